/** `drive.file` means whichever Drive scope the credential's Drive Access asks for. */
export type Scope = 'gmail.send' | 'gmail.readonly' | 'spreadsheets' | 'documents' | 'drive.file' | 'drive';

/** Google's methods by ID, each with the narrowest sufficient scope that the package asks for. */
export type Methods = Readonly<Record<string, Scope>>;
