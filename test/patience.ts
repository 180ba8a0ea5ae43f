// jest's limit of 5 s for a test would be a timed assertion on a busy machine.
jest.setTimeout(180_000);
