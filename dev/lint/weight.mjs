// Weighs TypeScript sources in the compiler's tokens, which no formatting changes: `node dev/lint/weight.mjs [--each] [path …]`.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const { SyntaxKind } = ts;
const operatorKinds = new Set([
	SyntaxKind.QuestionDotToken,
	SyntaxKind.QuestionQuestionToken,
	SyntaxKind.AmpersandAmpersandToken,
	SyntaxKind.BarBarToken,
	SyntaxKind.QuestionToken,
	SyntaxKind.EqualsGreaterThanToken,
]);
/** A function with this many names of its own is busy. */
const busyNames = 10;

/** Weighs all sources in files and folders. */
export function weigh(roots) {
	const files = roots.flatMap(listFiles).filter((file) => /(?<!\.d)\.m?ts$/.test(file));
	const weights = files.map(weighFile);
	const sum = (key) => weights.reduce((total, weight) => total + weight[key], 0);
	return {
		files: weights,
		tokens: sum('tokens'),
		operatorsPerLine: sum('operators') / sum('codeLines'),
		tokensPerLine: sum('tokens') / sum('codeLines'),
		busyPercent: (sum('busyFunctions') * 100) / sum('functions'),
	};
}

function listFiles(place) {
	if (statSync(place).isFile()) return [place];
	return readdirSync(place).flatMap((name) => listFiles(path.join(place, name)));
}

function weighFile(file) {
	const text = readFileSync(file, 'utf8');
	const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
	const weight = { file, tokens: 0, operators: 0, functions: 0, busyFunctions: 0, codeLines: 0 };
	const codeLines = new Set();
	const visit = (node) => {
		if (isToken(node)) {
			weight.tokens++;
			codeLines.add(source.getLineAndCharacterOfPosition(node.getStart(source)).line);
			if (isOperator(node)) weight.operators++;
		}
		if (ts.isFunctionLike(node) && node.body) {
			weight.functions++;
			if (countNames(node) >= busyNames) weight.busyFunctions++;
		}
		node.getChildren(source).forEach(visit);
	};
	visit(source);
	weight.codeLines = codeLines.size;
	return weight;
}

function isToken({ kind }) {
	const isKind = kind >= SyntaxKind.FirstToken && kind <= SyntaxKind.LastToken;
	return isKind && kind !== SyntaxKind.EndOfFileToken;
}

/** A question mark of a type, such as of an optional parameter, decides nothing. */
function isOperator({ kind, parent }) {
	if (!operatorKinds.has(kind)) return false;
	return kind !== SyntaxKind.QuestionToken || ts.isConditionalExpression(parent);
}

function countNames(node) {
	const names = new Set();
	const visit = (child) => {
		const isDeclaration =
			ts.isVariableDeclaration(child) || ts.isParameter(child) || ts.isBindingElement(child);
		if (isDeclaration && ts.isIdentifier(child.name)) names.add(child.name.text);
		ts.forEachChild(child, visit);
	};
	ts.forEachChild(node, visit);
	return names.size;
}

if (process.argv[1] === import.meta.filename) {
	const places = process.argv.slice(2).filter((value) => !value.startsWith('--'));
	const { files, ...total } = weigh(places.length > 0 ? places : ['nodes', 'credentials']);
	if (process.argv.includes('--each'))
		for (const { file, tokens } of files) console.log(`${String(tokens).padStart(7)}  ${file}`);
	console.log(total);
}
