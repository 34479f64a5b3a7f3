'use strict';

/** Finds the tool an agent offers for a purpose, and fills its arguments from its own JSON schema. */

/** @typedef {import('./steer.js').Tool} Tool */

const COMMAND = /^(command|cmd|script|commands|bash_command|shell_command)$/i;
const PATH = /^(file_?path|path|absolute_?path|file_?name|target_?file|file)$/i;
const CONTENT = /^(contents?|file_text|file_content|text)$/i;

/** Best names first: an agent may offer several tools with a command in them. */
const SHELL_NAMES = [
  /^(bash|shell|sh|terminal)$/i,
  /^(exec|execute|run|local)[_-]?(shell|command|commands|terminal)([_-]?(command|cmd))?$/i,
  /(bash|shell|terminal|execute|exec_command|run_command|launch-process)/i,
];
const WRITE_NAMES = [
  /^write([_-]?(text[_-]?)?(to[_-]?)?file)?$/i,
  /^(create|save)([_-]?file)?$/i,
  /(write|create|save|editor)/i,
];

/**
 * @param {Tool[]} tools
 * @param {RegExp[]} names
 * @param {RegExp[]} needs each must match a property of the tool
 */
function find(tools, names, needs) {
  const fitting = tools.filter(({ schema }) => {
    const keys = Object.keys(schema?.properties ?? {});
    return needs.every((need) => keys.some((key) => need.test(key)));
  });
  for (const name of names) {
    const tool = fitting.find((candidate) => name.test(candidate.name));
    if (tool) return tool;
  }
  return undefined;
}

/** @param {Tool[]} tools */
const findShellTool = (tools) => find(tools, SHELL_NAMES, [COMMAND]);

/** @param {Tool[]} tools */
const findWriteTool = (tools) => find(tools, WRITE_NAMES, [PATH, CONTENT]);

/** @param {any} schema */
function typeOf(schema) {
  const type = Array.isArray(schema?.type) ? schema.type.find((/** @type {string} */ t) => t !== 'null') : schema?.type;
  if (type) return String(type).toLowerCase();
  const variants = schema?.anyOf ?? schema?.oneOf ?? [];
  const types = variants.map(typeOf);
  return types.includes('array') ? 'array' : types.find((/** @type {string} */ t) => t && t !== 'null');
}

/**
 * The smallest value a schema accepts.
 *
 * @param {any} schema
 * @param {number} [depth]
 * @returns {unknown}
 */
function sample(schema, depth = 0) {
  if (schema?.enum) return schema.enum[0];
  if (schema && 'const' in schema) return schema.const;
  switch (typeOf(schema)) {
    case 'object': {
      if (depth > 6) return {};
      const required = schema.required ?? Object.keys(schema.properties ?? {});
      return Object.fromEntries(
        required.map((/** @type {string} */ key) => [key, sample(schema.properties?.[key], depth + 1)]),
      );
    }
    case 'array':
      return [];
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    default:
      return 'interop';
  }
}

/**
 * @param {any} schema JSON schema of the tool's arguments
 * @param {{ command?: string, path?: string, content?: string, cwd: string }} wanted
 * @returns {Record<string, unknown>}
 */
function fillArguments(schema, wanted) {
  const required = new Set(schema?.required ?? []);
  /** @type {Record<string, unknown>} */
  const args = {};
  for (const [key, property] of Object.entries(schema?.properties ?? {})) {
    const value = special(key, property, wanted);
    if (value !== undefined) args[key] = value;
    else if (required.has(key)) args[key] = required.has(key) && /dir|cwd/i.test(key) ? wanted.cwd : sample(property);
  }
  return args;
}

/**
 * @param {string} key
 * @param {any} property
 * @param {{ command?: string, path?: string, content?: string }} wanted
 */
function special(key, property, wanted) {
  if (COMMAND.test(key)) {
    // An editor tool's `command` is one of a few verbs, not shell text.
    if (property.enum) return property.enum.includes('create') ? 'create' : property.enum[0];
    if (wanted.command === undefined) return undefined;
    if (typeOf(property) !== 'array') return wanted.command;
    return key.toLowerCase() === 'commands' ? [wanted.command] : ['bash', '-lc', wanted.command];
  }
  if (wanted.path !== undefined && PATH.test(key)) return wanted.path;
  if (wanted.content !== undefined && CONTENT.test(key)) return wanted.content;
  if (wanted.command !== undefined) {
    // A sandboxed shell must be asked to leave its sandbox, otherwise it runs the command without a question.
    if (key === 'sandbox_permissions') return 'require_escalated';
    if (key === 'with_escalated_permissions') return true;
    if (key === 'justification') return 'The interop run needs this command outside the sandbox.';
    if (/timeout/i.test(key) && /ms|milli/i.test(key + (property.description ?? ''))) return 100_000;
  }
  return undefined;
}

module.exports = { findShellTool, findWriteTool, fillArguments, sample };
