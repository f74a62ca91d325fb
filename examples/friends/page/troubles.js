// What went wrong, in words for a person. Decided by what each server said and proves: words in a message can be of others.

const SERVERS = ["generator", "cloud"];
/** The replies that are no refusals. */
const OTHERS = ["answer", "silent", "invalid"];
/** What to do about a counter: it is the time of a clock. */
const CLOCK = "Look at the clock of this device. If it was behind, put it right, choose “Stop waiting” and try again; try again too if you have used another device since. If that does not help, the clock of one of your devices was ahead: ask the people who run the servers.";

/** The reasons for which a server refuses. */
const REASONS = {
  unreadable: "it cannot read what this page sent",
  "other-job": "its map is another one",
  "old-counter": "it has had a later request of yours",
  policy: "its rules do not allow this",
  "wrong-hash": "parts of the request do not fit together",
  "wrong-challenge": "parts of the request do not fit together",
  "state-version": "the map has changed meanwhile",
  "state-busy": "the map is being changed",
  "state-closed": "the map is closed for good",
  interrupted: "the other server did not connect, or left",
  stopped: "it stopped halfway",
  used: "it has had this request before, and has no answer",
  unended: "the map is locked for now, since too many visits to it were cut off",
};

/** What holds once both servers prove that they refuse for the same reason, and what to do. */
const CERTAIN = {
  "state-closed": () => ["This map has been closed for good.", "Ask the people who run the servers for a new one."],
  unended: ({ hint }) => ["This map is locked for now: too many visits to it were cut off.", sentence(hint)],
  "old-counter": () => ["The servers refuse this request: they have had a later one of yours.", CLOCK],
};

/** A sentence for what went wrong, what to do about it, and the words of those who know. */
export function explained(error) {
  const detail = [error.message, error.cause?.message, error.hint].filter(Boolean).join(" · ");
  const replies = SERVERS.map((server) => ({ server, ...error.replies?.[server] }));
  const known = error.replies === undefined ? undefined : (refused(replies, error) ?? silent(replies));
  const [text, hint] = known ?? [sentence(error.message), sentence(error.hint ?? "reload the page; nothing that it stored is lost")];
  return { text, hint, detail };
}

/** Words as a sentence. */
export function sentence(words) {
  return `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/[.]$/, "")}.`;
}

/** Words for refusals, which come before the silence of the other server. Nothing where nobody refuses, or where both prove that they do and the client's own words say why. */
function refused(replies, error) {
  const refusals = replies.filter(({ code }) => !OTHERS.includes(code));
  const proven = refusals.filter(({ isProven }) => isProven);
  const [first, second] = proven;
  if (second !== undefined) {
    // Where one refuses for the counter, the other has waited for it in vain.
    const code = proven.some(({ code }) => code === "old-counter") ? "old-counter" : first.code;
    return code === "old-counter" || code === second.code ? CERTAIN[code]?.(error) : undefined;
  }
  if (first !== undefined) {
    const hint = first.code === "old-counter" ? CLOCK : "Ask the people who run it, and try again. This page keeps your request until then.";
    return [`One of the servers, the ${first.server}, refuses: ${REASONS[first.code]}.${rest(replies, first)}`, hint];
  }
  if (refusals.length === 0) return undefined;
  const [{ server, code }, other] = refusals;
  const who = other?.code === code ? "both servers refuse" : `one of the servers, the ${server}, refuses`;
  const hint = "This is not proven: somebody in between can have sent it. Try again later, and if it stays so, ask the people who run the servers. This page keeps your request until then.";
  return [`It seems that ${who}: ${REASONS[code]}.${rest(replies, refusals[0])}`, hint];
}

/** A further sentence on the other server, if it is silent. */
function rest(replies, { server }) {
  const other = replies.find((reply) => reply.server !== server);
  return other.code === "silent" ? ` The other one, the ${other.server}, has not answered.` : "";
}

/** Words for silence; nothing where nobody is silent. */
function silent(replies) {
  const servers = replies.filter(({ code }) => code === "silent").map(({ server }) => server);
  if (servers.length === 0) return undefined;
  const text = servers.length === 2 ? "The servers do not answer." : `One of the servers, the ${servers[0]}, does not answer.`;
  return [text, "Check that you are online, and try again. This page keeps your request until then."];
}
