'use strict';

/**
 * Declares `SessionEvent`: one interface per update tag of the schema, fields flattened from the update.
 *
 * @typedef {{ [key: string]: any }} Schema
 */

/** Members that every event has; an update's own member of that name needs another one. */
const RESERVED = ['type', 'sessionId', 'replay', 'late', 'raw'];

/** The new names of members that collide. `lib/` and the binding rename the same ones. */
const RENAMED_MEMBERS = new Map([['SubagentUpdate.sessionId', 'childSessionId']]);

/** @param {string} tag */
const pascal = (tag) => tag.split('_').map((word) => word[0].toUpperCase() + word.slice(1)).join('');

/**
 * @param {Schema} defs
 * @param {Schema} variant one alternative of `SessionUpdate`
 * @returns {{ name: string, text: string, tag: string }}
 */
function eventOf(defs, variant) {
  const payload = variant.$ref.slice('#/$defs/'.length);
  const tag = variant.properties.sessionUpdate.const;
  const name = `${pascal(tag)}Event`;
  if (defs[name]) throw new Error(`the schema has a type of its own called ${name}`);
  const clashes = Object.keys(defs[payload].properties ?? {}).filter((member) => RESERVED.includes(member));
  let base = payload;
  const members = [`type: '${tag}';`];
  for (const member of clashes) {
    const renamed = RENAMED_MEMBERS.get(`${payload}.${member}`);
    if (!renamed) throw new Error(`${payload}.${member} collides with a member of every event; give it a name in RENAMED_MEMBERS`);
    const optional = defs[payload].required?.includes(member) ? '' : '?';
    base = `Omit<${payload}, '${member}'>`;
    members.push(`/** \`${member}\` on the wire. */`, `${renamed}${optional}: ${payload}['${member}'];`);
  }
  if (clashes.length > 1) throw new Error(`${payload} has several colliding members`);
  const text = `export interface ${name} extends SessionEventBase, ${base} {\n  ${members.join('\n  ')}\n}\n`;
  return { name, text, tag };
}

/**
 * @param {Schema} defs
 * @returns {string}
 */
function renderEvents(defs) {
  const events = defs.SessionUpdate.oneOf.map((/** @type {Schema} */ variant) => eventOf(defs, variant));
  return `/** What every session event carries. */
export interface SessionEventBase {
  /** The session that the update belongs to. */
  sessionId: SessionId;
  /** Present on history that the agent repeats while a session is reopened. */
  replay?: true;
  /** Present on an update that arrived after the turn it belongs to had been reported as finished. */
  late?: true;
}

${events.map((/** @type {{ text: string }} */ event) => event.text).join('\n')}
/** An update with a tag, or in a shape, that this version of the protocol does not know. */
export interface UnknownEvent extends SessionEventBase {
  type: 'unknown';
  /** The update exactly as the agent sent it. */
  raw: unknown;
}

/**
 * An update of a child session (a subagent) that the agent exposes. Its text is no part of the turn's text; what is known
 * of the child is under \`subagents\` in the session's state.
 */
export interface ChildSessionEvent extends SessionEventBase {
  type: 'child_session_event';
  /** The child session. */
  childSessionId: SessionId;
  /** The update; its \`sessionId\` is the child's. */
  event: Exclude<SessionEvent, ChildSessionEvent>;
}

/** One update of a session. \`type\` is the protocol's \`sessionUpdate\` tag; the update's fields are beside it. */
export type SessionEvent =
${events.map((/** @type {{ name: string }} */ event) => `  | ${event.name}`).join('\n')}
  | ChildSessionEvent
  | UnknownEvent;
`;
}

module.exports = { renderEvents };
