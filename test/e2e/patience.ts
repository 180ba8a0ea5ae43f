// A real n8n starts and runs workflows in these suites; jest's 5 s would be a timed assertion.
jest.setTimeout(180_000);
