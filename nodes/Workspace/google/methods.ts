/** `drive.file` stands for whichever Drive scope the credential's Drive Access asks for. */
export type Scope = 'gmail.send' | 'gmail.readonly' | 'spreadsheets' | 'documents' | 'drive.file' | 'drive';

/** Google's methods by their ids, each with the narrowest scope that the package asks for and that allows it. */
export type Methods = Readonly<Record<string, Scope>>;
