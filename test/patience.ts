// jest's limit of 5 s for a test would be a timed assertion on a busy machine. A run that changes the product needs an end sooner.
jest.setTimeout(Number(process.env.TEST_PATIENCE ?? 400_000));
