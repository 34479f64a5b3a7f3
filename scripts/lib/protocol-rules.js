'use strict';

/**
 * The rules that bind a client, by number: what each asks for. The one list of them; code, tests and documents name them by
 * their numbers. A test shows a rule when its name has the number in it: `c07_a_broken_host_still_answers_once`.
 *
 * @typedef {{ number: number, says: string, missing?: string }} Rule `missing`: why no test shows it yet.
 */

/** @type {Array<[string, string?]>} */
const RULES = [
  ['Messages are UTF-8, one a line, without a line feed inside.'],
  ['Nothing but messages is written to the agent; what it writes beside messages is not answered.'],
  ['Standard error is always drained.'],
  ['The end: stdin is closed, then the process is ended, with all that it started.'],
  ['Notifications are never answered, not even malformed ones.'],
  ['A response carries the id of its request, in the same JSON type.'],
  ['Every request gets exactly one response.'],
  ['Paths are absolute.'],
  ['An unknown request is answered −32601, an unknown notification ignored.'],
  ['`initialize` comes before everything else.'],
  ['The version sent is the latest supported; the client says who it is.'],
  ['A version that is not supported ends the connection and is told to the user.'],
  ['Capabilities that are omitted are unsupported, in any combination.'],
  ['Only what is implemented is advertised.'],
  ['`logout` only where it is advertised.'],
  ['A terminal method is never passed to `authenticate`.'],
  ['`auth.terminal` only where the launch can be repeated in a terminal.'],
  ['Signing in at a terminal runs the same program, with the method\'s arguments and environment; exit code 0 is success.'],
  ['The error "authentication required" is typed and offers the methods, in a running session, too.'],
  ['An unknown authentication state is treated as unknown.'],
  ['Sessions are loaded, resumed, listed, deleted, closed and forked only where that is advertised.'],
  ['All of the history arrives before a load is reported finished.'],
  ['Resuming needs no history.'],
  ['The session\'s own directory is sent whenever it is opened.'],
  ['More directories only where they are advertised, the whole list each time.'],
  ['MCP servers over HTTP and SSE only where they are advertised.'],
  ['A cursor of a listing is the agent\'s own; without one the listing ends.'],
  ['Deleting a session that is gone is nothing special.'],
  ['A system prompt only where it is advertised: text, not empty; an override only with its own capability.'],
  ['Configuration options of a new session, and `session/options`, only where they are advertised.'],
  ['Updates may come before the session is known, and between turns.'],
  ['A prompt holds only what the agent takes.'],
  ['A turn is reported finished after everything it said.'],
  ['Chunks of one message id are one message; ids are compared, not read.'],
  ['An update of a tool call changes only what it names; null names nothing.'],
  ['A plan is replaced whole; plans by id each for themselves; the removal of an unknown one is ignored.'],
  ['An update of an unknown tool call and a second announcement are taken.'],
  ['A notice is shown and changes nothing; an unknown severity is kept.'],
  ['A compaction stays where it was first seen; a summary replaces its chunks.'],
  ['A subagent\'s updates belong to its own session; what it does not offer is not asked of it.'],
  ['An error in response to a prompt ends the turn once.'],
  ['Unknown stop reasons, updates and content do not end a session.'],
  ['A cancel answers every open permission request of its session, and no other.'],
  ['A cancel marks unfinished tool calls as cancelled at once.'],
  ['Updates are taken until the response to the prompt.'],
  ['A permission request after the cancel is answered `cancelled`.'],
  ['A cancel without a turn is harmless; at most one is sent for each turn.'],
  ['An error in response to a cancelled prompt is a cancelled turn.'],
  ['A request that is taken back is still answered, each kind in its own way.'],
  ['What is open when the client closes is answered −32800.'],
  ['Who takes a request back waits for its response; a late one goes to nobody.'],
  ['A permission request is answered with an offered option, or `cancelled`.'],
  ['A permission request that cannot be read never becomes an approval.'],
  ['Writing creates a missing file.'],
  ['Reading honours line and limit, also beyond the end.'],
  ['`terminal/create` answers before the command ends; other calls do not wait for each other.'],
  ['The output limit drops from the start, at a character.'],
  ['A killed terminal keeps its id, a released one does not.'],
  ['Elicitation: each mode is advertised by itself; an unadvertised one is refused; answers are checked; an address is never fetched.'],
  ['The end of an elicitation that nobody knows is ignored.'],
  ['Configuration options keep their order; a response or update replaces the whole set; unknown kinds are harmless.'],
  ['A boolean option is set with `type: "boolean"`.'],
  ['`_meta` passes through both ways.'],
];

/** @returns {Rule[]} */
function rules() {
  return RULES.map(([says, missing], index) => ({ number: index + 1, says, ...(missing && { missing }) }));
}

module.exports = { rules };
