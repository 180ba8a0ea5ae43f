export const googleTokenUrl = 'https://oauth2.googleapis.com/token';

/** Matches a list of scopes of which one can read Gmail. */
export const mailScopePattern = /mail\.google\.com|gmail\.(compose|metadata|modify|readonly)/;

/** Whether scopes allow reading Gmail but nothing of Drive. @param scope separated by spaces */
export function isMailOnly(scope: string): boolean {
	return !scope.includes('/auth/drive') && mailScopePattern.test(scope);
}
