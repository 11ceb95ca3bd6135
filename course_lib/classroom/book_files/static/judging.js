// Reads a guess, and judges it, as course_lib/teaching/guesses does in a notebook. Both
// are tested with one table, tests/guess_cases.py.
const judge = (() => {
  const YES = ["yes", "y", "true", "t", "right", "correct", "1"];
  const NO = ["no", "n", "false", "f", "wrong", "0"];
  const WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
  const UNITS = { k: 1e3, thousand: 1e3, m: 1e6, million: 1e6, billion: 1e9 };
  const DIGITS = String.raw`(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?`;
  const LETTER = String.raw`[\p{L}\p{N}_]`;
  const NUMBER = new RegExp(
    String.raw`(?<!${LETTER}|\.)((?:(?<![\d)])[-+])?${DIGITS})` +
      String.raw`(?:\s*/\s*(${DIGITS})|\s*(?:\^|\*\*)\s*([-+]?\d{1,4}))?` +
      String.raw`(?:\s*(%|percent|times|x|×|${Object.keys(UNITS).join("|")}))?(?!${LETTER})`,
    "gu",
  );
  const GROUPED = new RegExp(String.raw`(?<!${LETTER}|\.)[1-9]\d{0,2}(?:,\d{3})+(?![\d,])`, "gu");
  // What may stand beside numbers: brackets, separators, and words such as "windows".
  const BESIDE = /^(?:[\s,;:|&~≈()[\]{}.-]|\p{L}{2,})*$/u;

  class Unreadable extends Error {}

  const bare = (text) => text.replaceAll("**", "").replaceAll("`", "");
  const words = (text) => text.split(/\s+/).filter(Boolean);
  const plainly = (text) => words(bare(text).toLowerCase()).join(" ").replace(/^["' .]+|["' .]+$/g, "");

  function written(value) {
    if (Array.isArray(value)) {
      const parts = value.map(written);
      return parts.join(parts.some((part) => part.includes(",")) ? "; " : ", ");
    }
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (typeof value === "string") return value;
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
    if (Math.abs(value) >= 1e-4) return String(Number(value.toPrecision(4)));
    return value.toExponential(3).replace(/\.?0*e/, "e").replace(/e-(\d)$/, "e-0$1");
  }

  function readFlags(text, count) {
    const given = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    if (given.length !== count || !given.every((word) => YES.includes(word) || NO.includes(word)))
      throw new Unreadable(`Please give yes or no ${count} times, such as: yes no.`);
    return given.map((word) => YES.includes(word));
  }

  function readNumbers(text, { answer, floats }) {
    text = text.toLowerCase().replaceAll("−", "-").replace(/[_']/g, "");
    const spelled = { none: "0", ...Object.fromEntries(WORDS.map((word, n) => [word, String(n)])) };
    text = text.replace(/\p{L}+/gu, (word) => spelled[word] ?? word);
    // 1,000 is a thousand, and so is 1 000, and 0,5 a half, as some write.
    const versions = [text.replace(GROUPED, (digits) => digits.replaceAll(",", "")), text];
    if (answer.length === 1)
      versions.push(text.replace(/(?<=\d) (?=\d{3}(?!\d|\p{L}|_))/gu, ""), text.replaceAll(",", "."));
    for (const version of versions) {
      const found = [...version.matchAll(NUMBER)];
      if (found.length === answer.length && BESIDE.test(version.replace(NUMBER, " ")))
        return found.map((match, n) => valueOf(match, floats[n] && Math.abs(answer[n]) <= 1));
    }
    throw new Unreadable(
      answer.length === 1
        ? "Please give one number, such as 7 or 0.5 or 1,000."
        : `Please give ${answer.length} numbers, with spaces between.`,
    );
  }

  function valueOf([all, digits, divisor = 1, power = 1, unit], isShare) {
    const percent = isShare && (unit === "%" || unit === "percent") ? 100 : 1;
    const value = ((Number(digits) / Number(divisor)) ** Number(power) * (UNITS[unit] ?? 1)) / percent;
    if (!Number.isFinite(value)) throw new Unreadable(`${all} is not a number to compare with.`);
    return value;
  }

  function isRight(guess, { answer, floats, within }) {
    if (typeof answer === "string") return plainly(guess) === plainly(answer);
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
    const { answer, shown, within } = asked;
    let guess = words(text).join(" ");
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
    let message = right ? "Right." : "Not this time.";
    if (asked.verdict) return { outcome, message };
    message += ` The answer: ${shown}.`;
    const given = written(typeof guess === "string" || guess.length > 1 ? guess : guess[0]);
    if (right && plainly(given) === plainly(shown)) return { outcome, message };
    message += ` You guessed ${given}.`;
    if (within) message += ` (Up to ${written(100 * within)} % off counts as right.)`;
    return { outcome, message };
  }
  judge.read = readNumbers; // for questions.js
  return judge;
})();
