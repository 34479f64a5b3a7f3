'use strict';

/**
 * Turns the protocol's JSON Schema into TypeScript declarations.
 *
 * The schema is the output of one known generator, so only what that one emits is understood; anything else throws,
 * because a type that is silently `unknown` would be worse than a failing script.
 *
 * @typedef {{ [key: string]: any }} Schema
 */

const { renderEvents } = require('./session-events.js');

/** Names that would shadow a global or say too little next to the runtime's own types. */
const RENAMED = new Map([['Error', 'RpcError'], ['ErrorCode', 'RpcErrorCode']]);

/** Keywords without influence on a static type. */
const IGNORED = new Set([
  'default', 'format', 'minimum', 'maximum', 'minLength', 'minItems', 'not', 'discriminator', 'required',
  'unevaluatedProperties', 'x-side', 'x-method', 'x-deserialize-default-on-error', 'x-deserialize-default-on-null',
  'x-deserialize-skip-invalid-items',
]);
const UNDERSTOOD = new Set([
  ...IGNORED, '$ref', 'type', 'const', 'properties', 'additionalProperties', 'items', 'anyOf', 'oneOf',
]);

/** @param {string} name */
const nameOf = (name) => RENAMED.get(name) ?? name;

/** @param {string} ref */
const refName = (ref) => nameOf(ref.slice('#/$defs/'.length));

/** @param {unknown} value */
const literal = (value) => (typeof value === 'string' ? `'${value}'` : String(value));

/** @param {string} key */
const memberName = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : `'${key}'`);

/** @param {string} text */
const indent = (text) => text.replaceAll('\n', '\n  ');

/**
 * Joins the parts of an intersection; a union among them needs parentheses.
 *
 * @param {string[]} parts
 */
const intersection = (parts) => (parts.length === 1
  ? parts[0]
  : parts.map((part) => (isUnion(part) ? `(${part})` : part)).join(' & '));

/**
 * Whether a type expression has a `|` outside all brackets.
 *
 * @param {string} text
 */
function isUnion(text) {
  let depth = 0;
  for (const char of text) {
    if ('({<['.includes(char)) depth += 1;
    else if (')}>]'.includes(char)) depth -= 1;
    else if (char === '|' && depth === 0) return true;
  }
  return false;
}

/**
 * The member whose constant tells the alternatives apart, if there is one.
 *
 * @param {Schema[]} members
 * @returns {string | undefined}
 */
function tagOf(members) {
  for (const member of members) {
    for (const [key, value] of Object.entries(member.properties ?? {})) {
      if ('const' in value && member.required?.includes(key)) return key;
    }
  }
  return undefined;
}

/**
 * One alternative of a union, made discriminable: an alternative without a constant tag gets `UnknownTag`, which no
 * literal compares to, so that comparing the tag with a literal leaves only the alternative with that literal.
 *
 * @param {Schema} member
 * @param {string | undefined} tag
 * @returns {string}
 */
function alternative(member, tag) {
  if (!tag) return typeOf(member);
  const own = member.properties?.[tag];
  if (own && 'const' in own) return typeOf(member);
  if (!own) return intersection([typeOf(member), `{ ${memberName(tag)}?: UnknownTag }`]);
  const { [tag]: _, ...properties } = member.properties;
  const rest = { ...member, properties };
  const known = Object.keys(properties).length > 0 || member.$ref || member.anyOf || member.additionalProperties;
  const tagged = `{ ${memberName(tag)}: UnknownTag }`;
  return known ? intersection([typeOf(rest), tagged]) : tagged;
}

/**
 * @param {Schema[]} members
 * @returns {string[]}
 */
function alternatives(members) {
  const literals = members.filter((member) => 'const' in member);
  const open = members.filter((member) => !('const' in member));
  // An open enumeration: the literals stay visible to completion, every other value is accepted.
  if (literals.length > 0 && open.length === 1 && open[0].type === 'string') {
    return [...literals.map((member) => literal(member.const)), '(string & {})'];
  }
  if (literals.length > 0 && open.length === 1 && open[0].type === 'integer') return ['number'];
  const tag = tagOf(members);
  return [...new Set(members.map((member) => alternative(member, tag)))];
}

/**
 * @param {Schema} schema
 * @param {boolean} [inline] whether a lone member stays on the line
 * @returns {string} the body of an object type
 */
function objectBody(schema, inline) {
  const required = new Set(schema.required ?? []);
  const lines = Object.entries(schema.properties ?? {}).map(([key, value]) => {
    const doc = 'default' in value ? `/** Absent means \`${JSON.stringify(value.default)}\`. */\n` : '';
    return `${doc}${memberName(key)}${required.has(key) ? '' : '?'}: ${typeOf(value)};`;
  });
  if (schema.additionalProperties === true) lines.push('[key: string]: unknown;');
  if (lines.length === 0) return '{}';
  if (inline && lines.length === 1 && !lines[0].includes('\n')) return `{ ${lines[0].slice(0, -1)} }`;
  return `{\n  ${lines.map(indent).join('\n  ')}\n}`;
}

/**
 * @param {Schema} schema
 * @returns {string | undefined} the type that `type` and its companions describe
 */
function ownType(schema) {
  if ('const' in schema) return literal(schema.const);
  const types = [schema.type ?? []].flat();
  const parts = types.filter((type) => type !== 'null').map((type) => {
    switch (type) {
      case 'integer':
      case 'number':
        return 'number';
      case 'string':
      case 'boolean':
        return type;
      case 'array':
        return `Array<${typeOf(schema.items ?? {})}>`;
      case 'object':
        return objectType(schema);
      default:
        throw new Error(`unknown type ${type}`);
    }
  }).filter((part) => part !== undefined);
  if (types.includes('null')) parts.push('null');
  return parts.length === 0 ? undefined : parts.join(' | ');
}

/**
 * @param {Schema} schema
 * @returns {string | undefined}
 */
function objectType(schema) {
  const extra = schema.additionalProperties;
  if (schema.properties) {
    if (Object.keys(schema.properties).length > 0 || extra === true) return objectBody(schema, true);
    return undefined;
  }
  if (extra === true) return 'Meta';
  if (extra && typeof extra === 'object') return `Record<string, ${typeOf(extra)}>`;
  // Beside a reference or a union, a bare `object` adds nothing.
  return schema.$ref || schema.anyOf || schema.oneOf ? undefined : 'Meta';
}

/**
 * @param {Schema | boolean} schema
 * @returns {string} a type expression
 */
function typeOf(schema) {
  if (schema === true) return 'unknown';
  if (schema === false) return 'never';
  const odd = Object.keys(schema).filter((key) => !UNDERSTOOD.has(key));
  if (odd.length > 0) throw new Error(`schema keyword not understood: ${odd.join(', ')}`);
  const parts = [];
  if (schema.$ref) parts.push(refName(schema.$ref));
  const own = ownType(schema);
  if (own) parts.push(own);
  for (const members of [schema.anyOf, schema.oneOf]) {
    if (!members) continue;
    parts.push(alternatives(members).join(' | '));
  }
  return parts.length === 0 ? 'unknown' : intersection(parts);
}

/**
 * @param {string} name
 * @param {Schema} schema
 * @returns {string}
 */
function declaration(name, schema) {
  const side = schema['x-side'] === 'agent' ? 'the agent' : 'the client';
  const role = /Response$/.test(name) ? 'Result of' : 'Parameters of';
  const handled = schema['x-side'] === 'protocol' ? 'handled by both sides' : `handled by ${side}`;
  const doc = schema['x-method'] ? `/** ${role} \`${schema['x-method']}\`, ${handled}. */\n` : '';
  const plain = schema.type === 'object' && schema.properties && !schema.$ref && !schema.anyOf && !schema.oneOf;
  if (plain) return `${doc}export interface ${name} ${objectBody(schema)}\n`;
  const members = schema.oneOf ?? schema.anyOf;
  if (members && !schema.$ref && !ownType(schema)) {
    return `${doc}export type ${name} =\n  | ${alternatives(members).map(indent).join('\n  | ')};\n`;
  }
  return `${doc}export type ${name} = ${typeOf(schema)};\n`;
}

/**
 * The methods of one side, as a map from method to its payload types.
 *
 * @param {Schema} defs
 * @param {string} map name of the interface
 * @param {string} doc
 * @param {(schema: Schema) => boolean} belongs
 * @param {boolean} notifications
 */
function methodMap(defs, map, doc, belongs, notifications) {
  /** @type {Map<string, { params?: string, result?: string }>} */
  const methods = new Map();
  for (const [name, schema] of Object.entries(defs)) {
    if (!schema['x-method'] || !belongs(schema)) continue;
    const isNotification = name.endsWith('Notification');
    if (isNotification !== notifications) continue;
    const entry = methods.get(schema['x-method']) ?? {};
    entry[name.endsWith('Response') ? 'result' : 'params'] = nameOf(name);
    methods.set(schema['x-method'], entry);
  }
  const lines = [...methods].sort(([a], [b]) => (a < b ? -1 : 1)).map(([method, { params, result }]) => {
    if (!params) throw new Error(`${method} has a result but no parameters`);
    return notifications ? `  '${method}': ${params};` : `  '${method}': { params: ${params}; result: ${result ?? 'unknown'} };`;
  });
  return `/** ${doc} */\nexport interface ${map} {\n${lines.join('\n')}\n}\n`;
}

/**
 * @param {Schema} schema the whole document
 * @returns {string} the text of `protocol.d.ts`
 */
function render(schema) {
  const defs = schema.$defs;
  const toAgent = (/** @type {Schema} */ s) => s['x-side'] === 'agent' || s['x-side'] === 'protocol';
  const toClient = (/** @type {Schema} */ s) => s['x-side'] === 'client' || s['x-side'] === 'protocol';
  const sections = [
    `// Generated by scripts/generate-protocol-types.js from schema/acp-v1.schema.json. Do not edit.
//
// The protocol types of ACP version ${schema['x-protocol-version']}, unstable parts included, from ${schema['x-crate']} ${schema['x-crate-version']}.
// Integers are JavaScript numbers: values beyond 2^53 lose precision. An optional member may be absent; only a member
// with \`null\` in its type may be null.

/**
 * Only a type: a string that no literal equals. An intersection with \`string\` would not do, because the compiler
 * takes it for comparable to every literal, and then does not narrow at all.
 */
declare enum Unknown {
  tag = '\\0',
}

/**
 * The value of a discriminator that this version of the protocol does not know. It is a string; no literal compares to
 * it, so that comparing a discriminator with a literal narrows a union to one member.
 */
export type UnknownTag = Unknown;

/** Free-form metadata: assume nothing about its keys. */
export interface Meta {
  [key: string]: unknown;
}
`,
    ...Object.keys(defs).sort().map((name) => declaration(nameOf(name), defs[name])),
    methodMap(defs, 'AgentRequests', 'Requests that an agent handles, by method.', (s) => toAgent(s) && s['x-side'] !== 'protocol', false),
    methodMap(defs, 'AgentNotifications', 'Notifications that an agent handles, by method.', toAgent, true),
    methodMap(defs, 'ClientRequests', 'Requests that a client handles, by method.', (s) => toClient(s) && s['x-side'] !== 'protocol', false),
    methodMap(defs, 'ClientNotifications', 'Notifications that a client handles, by method.', toClient, true),
    renderEvents(defs),
  ];
  // Without this line every declaration of a declaration file counts as exported.
  sections.push('export {};\n');
  return sections.join('\n');
}

module.exports = { render };
