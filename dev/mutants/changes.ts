import ts from 'typescript';

/** A small change of a source that a test should notice. */
export interface Change {
	/** From the root of the package. */
	readonly file: string;
	readonly line: number;
	/** Offsets of what is replaced. */
	readonly from: number;
	readonly to: number;
	readonly before: string;
	readonly after: string;
	/** The expression or function body that runs whenever the change does; a test that never comes there cannot notice it. */
	readonly reached?: { readonly from: number; readonly to: number; readonly isBlock: boolean };
}

const { SyntaxKind } = ts;

const operators = new Map<ts.SyntaxKind, string>([
	[SyntaxKind.EqualsEqualsEqualsToken, '!=='],
	[SyntaxKind.ExclamationEqualsEqualsToken, '==='],
	[SyntaxKind.LessThanToken, '<='],
	[SyntaxKind.LessThanEqualsToken, '<'],
	[SyntaxKind.GreaterThanToken, '>='],
	[SyntaxKind.GreaterThanEqualsToken, '>'],
	[SyntaxKind.AmpersandAmpersandToken, '||'],
	[SyntaxKind.BarBarToken, '&&'],
	[SyntaxKind.PlusToken, '-'],
	[SyntaxKind.MinusToken, '+'],
	[SyntaxKind.AsteriskToken, '/'],
	[SyntaxKind.SlashToken, '*'],
	[SyntaxKind.PlusEqualsToken, '-='],
	[SyntaxKind.MinusEqualsToken, '+='],
]);

/** All changes of a source: of operators, conditions, numbers and booleans, calls left out, and values not returned. Never of texts. */
export function changesOf(file: string, text: string): Change[] {
	const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
	const found: Change[] = [];
	const replace = (node: ts.Node, after: string) => {
		const from = node.getStart(source);
		const line = source.getLineAndCharacterOfPosition(from).line + 1;
		const [to, reached] = [node.getEnd(), reachedWith(node)];
		found.push({ file, line, from, to, before: node.getText(source), after, reached });
	};
	const visit = (node: ts.Node): void => {
		if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || isLayout(node)) return;
		replaced(node, replace);
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

function reachedWith(node: ts.Node): Change['reached'] {
	const { parent } = node;
	if (ts.isExpressionStatement(node)) return placeOf(node.expression);
	if (ts.isBinaryExpression(parent) && parent.operatorToken === node) return placeOf(parent);
	if (!isNameOf(parent, node)) return placeOf(node);
	const owner = ts.findAncestor(parent, (one) => ts.isFunctionLike(one) && 'body' in one);
	const body = (owner as ts.FunctionLikeDeclaration | undefined)?.body;
	return body && placeOf(body);
}

function placeOf(node: ts.Node): Change['reached'] {
	return { from: node.getStart(), to: node.getEnd(), isBlock: ts.isBlock(node) };
}

/** The source with a call wherever a change is reached, save those of a module's own names, which each import reaches. */
export function withProbes(
	text: string,
	changes: readonly Change[],
	probe: (change: Change) => string,
): string {
	const inserted = changes.flatMap((change) => {
		if (!change.reached) return [];
		const { from, to, isBlock } = change.reached;
		if (isBlock) return [{ at: from + 1, text: `${probe(change)};` }];
		return [
			{ at: from, text: `(${probe(change)}, ` },
			{ at: to, text: ')' },
		];
	});
	// From the end, so that offsets stay true.
	return inserted
		.sort((a, b) => b.at - a.at)
		.reduce((all, { at, text: more }) => all.slice(0, at) + more + all.slice(at), text);
}

/** How tall a text field of the form is: a matter of taste. */
function isLayout(node: ts.Node): boolean {
	return ts.isPropertyAssignment(node) && ['rows', 'typeOptions'].includes(node.name.getText());
}

function replaced(node: ts.Node, replace: (node: ts.Node, after: string) => void): void {
	if (ts.isBinaryExpression(node)) {
		const operator = operators.get(node.operatorToken.kind);
		// Texts are joined by the same sign as numbers are added.
		if (operator !== undefined && !isText(node.left) && !isText(node.right)) {
			replace(node.operatorToken, operator);
		}
		if (node.operatorToken.kind === SyntaxKind.QuestionQuestionToken)
			replace(node, node.left.getText());
	}
	if (ts.isIfStatement(node) || ts.isConditionalExpression(node)) {
		const condition = ts.isIfStatement(node) ? node.expression : node.condition;
		replace(condition, `!(${condition.getText()})`);
	}
	if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) {
		replace(node, node.operand.getText());
	}
	if (ts.isNumericLiteral(node)) {
		replace(node, isNameOf(node.parent, node) ? `[${node.text} + 1]` : `(${node.text} + 1)`);
	}
	if (node.kind === SyntaxKind.TrueKeyword) replace(node, 'false');
	if (node.kind === SyntaxKind.FalseKeyword) replace(node, 'true');
	if (ts.isExpressionStatement(node) && isCall(node.expression)) replace(node, ';');
	const returned = ts.isReturnStatement(node) ? node.expression : undefined;
	if (returned && returned.getText() !== 'undefined' && !isText(returned))
		replace(returned, 'undefined');
}

function isNameOf(parent: ts.Node, node: ts.Node): boolean {
	if (ts.isBindingElement(parent)) return parent.propertyName === node;
	return ts.isPropertyAssignment(parent) && parent.name === node;
}

function isCall(node: ts.Expression): boolean {
	if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isCall(node.expression);
	return ts.isCallExpression(node) && node.expression.kind !== SyntaxKind.SuperKeyword;
}

function isText(node: ts.Expression): boolean {
	return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}
