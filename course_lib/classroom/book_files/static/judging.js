// Judges a guess. Numbers are read as in a notebook, by the same rules and with the same
// words (GUESS_WORDS): course_lib/teaching/guesses/reading.py explains them. That both
// judge alike is tested: tests/guess_cases.py.
const judge = (() => {
  const YES = ["yes", "y", "true", "t", "right", "correct", "1"];
  const NO = ["no", "n", "false", "f", "wrong", "0"];
  const LONGEST = 100;
  const GROUPED = /(?<![\p{L}\p{N}_.])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])/gu;
  const TOKEN = /(?<number>(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3}(?!\d))?)|(?<word>log2|\p{L}+)|(?<sign>\*\*|\S)/gu;
  const SEPARATORS = [...",;:|&~≈=."];
  const FUNCTIONS = { ln: Math.log, log2: Math.log2, exp: Math.exp, sqrt: Math.sqrt };
  const CONSTANTS = { e: Math.E, pi: Math.PI };
  // each operator with how closely it binds, and what it does
  const OPERATORS = {
    "+": [1, (a, b) => a + b],
    "-": [1, (a, b) => a - b],
    "*": [2, (a, b) => a * b],
    "/": [2, (a, b) => a / b],
    "^": [3, (a, b) => a ** b],
  };
  const MEANT = { plus: "+", minus: "-", "×": "*", "·": "*", "÷": "/", "⁄": "/", "**": "^", "√": "sqrt" };

  class Unreadable extends Error {}

  const words = (text) => text.split(/[\s,;]+/).filter(Boolean);
  const normalized = (text) =>
    words(text.replace(/\*\*|`/g, "").toLowerCase()).join(" ").replace(/^["' .]+|["' .]+$/g, "");
  const meaning = (kind, text) => (Object.hasOwn(GUESS_WORDS[kind], text) ? GUESS_WORDS[kind][text] : undefined);
  const isIn = (table, text) => Object.hasOwn(table, text);

  function readFlags(text, count) {
    const given = words(text.toLowerCase().replace(/[^\p{L}\p{N}_]+/gu, " "));
    if (given.length !== count || !given.every((word) => YES.includes(word) || NO.includes(word)))
      throw new Unreadable(`Please give yes or no ${count} times, such as: yes no.`);
    return given.map((word) => YES.includes(word));
  }

  function readNumbers(text, { answer, floats }) {
    text = text.normalize("NFKC").toLowerCase().replaceAll("−", "-");
    let unknown = "";
    if (text.length > LONGEST) throw new Unreadable("Please give no more than the answer.");
    text = text.replace(/(?<=\d)[_'](?=\d)/g, "").replace(/(?<=\p{L})-(?=\p{L})/gu, " ");
    while (/^\s*[([{][^()[\]{}]*[)\]}]\s*$/.test(text)) text = text.trim().slice(1, -1);
    // 1,000 is a thousand, and so is 1 000, and 0,5 a half, as some write
    const versions = [text.replace(GROUPED, (digits) => digits.replaceAll(",", "")), text];
    if (answer.length === 1) versions.push(text.replace(/(?<=\d) (?=\d{3}\b)/g, ""), text.replaceAll(",", "."));
    for (const version of versions) {
      try {
        const numbers = numbersIn(version, answer, floats);
        if (numbers.length === answer.length) return numbers;
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        unknown ||= `${error.message} `;
      }
    }
    const wanted =
      answer.length > 1
        ? `${answer.length} numbers, with spaces between`
        : "one number, such as 7 or 0.5 or 1,000, or 64 * 8 or ln 79";
    throw new Unreadable(`${unknown}Please give ${wanted}.`);
  }

  function tokensOf(text) {
    const tokens = [];
    for (const match of text.matchAll(TOKEN)) {
      const [found] = match;
      const kind = match.groups.number ? "number" : match.groups.word ? "word" : "sign";
      const end = match.index + found.length;
      const afterSpace = match.index === 0 || /\s/.test(text[match.index - 1]);
      const beforeSpace = end === text.length || /\s/.test(text[end]);
      const before = tokens.at(-1);
      const glued = kind === "number" && !afterSpace && before && before.kind !== "sign";
      if (glued && !isIn(FUNCTIONS, before.text)) throw new Unreadable(`${before.text}${found} is not understood.`);
      tokens.push({ kind, text: isIn(MEANT, found) ? MEANT[found] : found, afterSpace, beforeSpace });
    }
    return tokens;
  }

  // Numbers, each in digits or words, or a calculation with such numbers.
  function numbersIn(text, answer, floats) {
    const tokens = tokensOf(text);
    const found = [];
    while (tokens.length) {
      const first = tokens[0].text;
      if (meaning("beside", first) !== undefined || SEPARATORS.includes(first)) tokens.shift();
      else {
        // a percentage of a share; an answer can also be in percent itself
        const place = Math.min(found.length, answer.length - 1);
        const hundred = floats[place] && Math.abs(answer[place]) <= 1 ? 100 : 1;
        const value = valueOf(tokens, hundred);
        found.push(Number.isInteger(value) ? value : Number(value.toPrecision(15))); // 0.1 * 30 is 3
      }
    }
    return found;
  }

  // What stands first, with operators that bind at least so closely.
  function valueOf(tokens, hundred, least = 1) {
    let value = operand(tokens, hundred);
    for (let sign = nextOperator(tokens); sign && OPERATORS[sign][0] >= least; sign = nextOperator(tokens)) {
      const [binds, compute] = OPERATORS[sign];
      tokens.shift();
      value = computed(compute(value, valueOf(tokens, hundred, sign === "^" ? binds : binds + 1)));
    }
    return value;
  }

  // The operator that comes next, if the calculation goes on.
  function nextOperator(tokens) {
    if (!tokens.length) return null;
    const { text, afterSpace, beforeSpace } = tokens[0];
    if (["x", "times"].includes(text)) return tokens[1] && beginsNumber(tokens[1]) ? "*" : null;
    if (["+", "-"].includes(text)) {
      if (afterSpace && !beforeSpace) return null; // the sign of the next number
      if (text === "-" && !afterSpace) throw new Unreadable("To subtract, put spaces around the minus.");
    }
    return isIn(OPERATORS, text) ? text : null;
  }

  const beginsNumber = ({ kind, text }) =>
    kind === "number" || text === "(" || meaning("numbers", text) !== undefined || isIn(FUNCTIONS, text);

  function operand(tokens, hundred) {
    if (!tokens.length) throw new Unreadable("Something is missing at the end.");
    const { text } = tokens[0];
    let value;
    if (["-", "+"].includes(text)) {
      tokens.shift();
      value = valueOf(tokens, hundred, OPERATORS["^"][0]);
      return text === "-" ? -value : value;
    }
    if (text === "(") {
      tokens.shift();
      value = valueOf(tokens, hundred);
      if (tokens.shift()?.text !== ")") throw new Unreadable("A parenthesis is not closed.");
    } else if (isIn(FUNCTIONS, text)) {
      tokens.shift();
      value = computed(FUNCTIONS[text](operand(tokens, hundred)));
    } else if (isIn(CONSTANTS, text)) {
      tokens.shift();
      value = CONSTANTS[text];
    } else value = numeral(tokens);
    if (["%", "percent"].includes(tokens[0]?.text)) {
      tokens.shift();
      value /= hundred;
    }
    return value;
  }

  // Digits, or words such as "two thousand five hundred" or "one half".
  function numeral(tokens) {
    let [total, value, inWords] = [0, null, true];
    if (tokens[0].kind === "number") [value, inWords] = [computed(Number(tokens.shift().text)), false];
    for (; tokens[0]?.kind === "word"; tokens.shift()) {
      const { text } = tokens[0];
      const [number, factor, parts] = ["numbers", "factors", "parts"].map((kind) => meaning(kind, text));
      if (number !== undefined && (value === null || (inWords && goesOn(value, number)))) value = (value ?? 0) + number;
      else if (factor && (value !== null || text.length > 1)) {
        value = (value ?? 1) * factor;
        if (factor >= 1000) [total, value] = [total + value, 0];
      } else if (parts) value = (value ?? 1) / parts;
      else if (value !== null || !["a", "an"].includes(text)) break;
      inWords = true;
    }
    if (value === null) throw new Unreadable(`“${tokens[0]?.text ?? "This"}” is not understood.`);
    return computed(total + value);
  }

  // Whether a word adds to those before it: twenty-five, hundred twelve.
  function goesOn(value, number) {
    return value % 100 === 0 || (value % 10 === 0 && value % 100 > 10 && number < 10);
  }

  function computed(value) {
    if (!Number.isFinite(value)) throw new Unreadable("This is not a number to compare with.");
    return value;
  }

  function isRight(guess, { answer, floats, within }) {
    if (typeof answer === "string") return normalized(guess) === normalized(answer);
    return answer.every((part, n) => {
      if (typeof part === "boolean") return guess[n] === part;
      return isNear(guess[n], part, within ?? (floats[n] ? 0.01 : 0));
    });
  }

  // a guess at the very border is right, however its last bit is rounded
  function isNear(guess, part, allowed) {
    return Math.abs(guess - part) <= allowed * Math.abs(part) * (1 + 1e-9);
  }

  // Why a usual wrong guess is wrong, where the question says it.
  function reasonFor(guess, { because = [], floats = [] }) {
    const meant = because.find(([wrong]) =>
      typeof wrong === "string"
        ? normalized(String(guess)) === normalized(wrong)
        : wrong.every((part, n) => isNear(guess[n], part, floats[n] ? 0.01 : 0)),
    );
    return meant?.[1];
  }

  // `asked` is what course_lib/classroom/book_files/asked.py writes into the page; `text`
  // is what was typed, or the words on a button.
  function judge(asked, text) {
    const { answer, shown, note, verdict } = asked;
    let guess = text.trim();
    try {
      if (typeof answer === "string" && !guess) throw new Unreadable("Please give a word.");
      if (typeof answer[0] === "boolean") guess = readFlags(guess, answer.length);
      else if (typeof answer !== "string") guess = readNumbers(guess, asked);
    } catch (error) {
      if (error instanceof Unreadable)
        return { outcome: "raised", message: `${error.message} That was not counted.` };
      throw error;
    }
    const right = isRight(guess, asked);
    const outcome = right ? "passed" : "failed";
    const parts = [right ? "Right." : "Not this time."];
    if (!verdict) parts.push(`The answer: ${shown}.`);
    if (!verdict && (!right || note)) parts.push(`You guessed ${text.trim()}.`, note);
    if (!verdict && !right) parts.push(reasonFor(guess, asked));
    return { outcome, message: parts.filter(Boolean).join(" ") };
  }
  judge.read = readNumbers; // for questions.js
  return judge;
})();
