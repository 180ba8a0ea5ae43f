export const googleTokenUrl = 'https://oauth2.googleapis.com/token';

/** Matches a list of scopes if at least one of them allows reading the Gmail profile. */
export const mailScopePattern = /mail\.google\.com|gmail\.(compose|metadata|modify|readonly)/;

/** Whether scopes allow reading the Gmail profile but nothing in Drive. @param scope the scopes, separated by spaces */
export const isMailOnly = (scope: string) =>
	!scope.includes('/auth/drive') && mailScopePattern.test(scope);
