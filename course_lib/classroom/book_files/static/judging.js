// Judges a guess. Numbers are read as they are written in digits: what else the notebook
// understands ("seven", "1/2", "10^3"), the page asks for in digits, and counts nothing.
// What both read they judge alike: tests/guess_cases.py.
const judge = (() => {
  const YES = ["yes", "y", "true", "t", "right", "correct", "1"];
  const NO = ["no", "n", "false", "f", "wrong", "0"];
  const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,2})?%?$/;
  const GROUPED = /(?<![\p{L}\d.])[1-9]\d{0,2}(,\d{3})+(?![\d,])/gu;

  class Unreadable extends Error {}

  const words = (text) => text.split(/[\s,;]+/).filter(Boolean);
  const normalized = (text) =>
    words(text.replace(/\*\*|`/g, "").toLowerCase()).join(" ").replace(/^["' .]+|["' .]+$/g, "");

  function readFlags(text, count) {
    const given = words(text.toLowerCase().replace(/[()[\]]/g, " "));
    if (given.length !== count || !given.every((word) => YES.includes(word) || NO.includes(word)))
      throw new Unreadable(`Please give yes or no ${count} times, such as: yes no.`);
    return given.map((word) => YES.includes(word));
  }

  function readNumbers(text, { answer, floats }) {
    text = text.toLowerCase().replaceAll("−", "-").replace(/[()[\]~≈]/g, " ").replace(/\s+%/g, "%");
    // 1,000 is a thousand, unless two numbers are wanted
    for (const version of [text.replace(GROUPED, (digits) => digits.replaceAll(",", "")), text]) {
      const given = words(version);
      if (given.length !== answer.length || !given.every((word) => NUMBER.test(word))) continue;
      return given.map((word, n) => {
        const isShare = word.endsWith("%") && floats[n] && Math.abs(answer[n]) <= 1;
        return Number(word.replace("%", "")) / (isShare ? 100 : 1);
      });
    }
    throw new Unreadable(
      answer.length === 1
        ? "Please give one number in digits, such as 7 or 0.5 or 1,000."
        : `Please give ${answer.length} numbers in digits, with spaces between.`,
    );
  }

  function isRight(guess, { answer, floats, within }) {
    if (typeof answer === "string") return normalized(guess) === normalized(answer);
    return answer.every((part, n) => {
      if (typeof part === "boolean") return guess[n] === part;
      const allowed = within ?? (floats[n] ? 0.01 : 0);
      // a guess at the very border is right, however its last bit is rounded
      return Math.abs(guess[n] - part) <= allowed * Math.abs(part) * (1 + 1e-9);
    });
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
    return { outcome, message: parts.filter(Boolean).join(" ") };
  }
  judge.read = readNumbers; // for questions.js
  return judge;
})();
