'use strict';

// The native list, the type, the page and the classes name the same codes.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const ts = require('typescript');
const errors = require('../../lib/errors.js');

const ROOT = path.join(__dirname, '..', '..');
const read = (/** @type {string} */ file) => fs.readFileSync(path.join(ROOT, file), 'utf8');

/** Codes without a native counterpart: they arise in JavaScript, or are a system's own. */
const HOST_ONLY = ['content_too_large', 'write_denied', 'path_outside_cwd', 'denied_secret', 'denied_git', 'invalid_path',
  'ENOENT', 'EACCES', 'ENOTDIR', 'ENOEXEC', 'EPERM', 'E2BIG', 'EAGAIN', 'EMFILE', 'ENOMEM'];

/** The codes of `ErrorCode::ALL`, as `ErrorCode::as_str` spells them. */
function nativeCodes() {
  const source = read('crates/acp-runtime/src/error.rs');
  const list = /const ALL: &'static \[Self\] = &\[([^\]]*)\]/.exec(source);
  assert.ok(list, 'ErrorCode::ALL was not found');
  const spelling = new Map(Array.from(source.matchAll(/Self::(\w+) => "(\w+)"/g), ([, name, text]) => [name, text]));
  return Array.from(list[1].matchAll(/Self::(\w+)/g), ([, name]) => {
    const text = spelling.get(name);
    assert.ok(text, `ErrorCode::${name} has no spelling`);
    return text;
  });
}

/** The rows of the table of codes. */
function documented() {
  const section = read('docs/errors.md').split('## Codes')[1].split('\n## ')[0];
  return Array.from(section.matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm), ([, code, errorClass]) => ({ code, errorClass }));
}

/** The members of the union `name` in `types/errors.d.ts`. @param {string} name */
function typed(name) {
  const file = path.join(ROOT, 'types', 'errors.d.ts');
  const program = ts.createProgram([file], { strict: true, types: [], lib: ['lib.es2022.d.ts'] });
  const source = program.getSourceFile(file);
  assert.ok(source);
  const alias = source.statements.find((node) => ts.isTypeAliasDeclaration(node) && node.name.text === name);
  assert.ok(alias, `${name} was not found`);
  const type = program.getTypeChecker().getTypeAtLocation(alias);
  assert.ok(type.isUnion(), `${name} is not a union`);
  return type.types.map((member) => {
    assert.ok(member.isStringLiteral(), `${name} has a member that is not a literal`);
    return member.value;
  });
}

/** @param {string[]} list */
const sorted = (list) => [...list].sort();

test('every native code has a spelling for the host, and no other has one', () => {
  const codes = nativeCodes();
  assert.ok(codes.length > 0);
  assert.deepEqual(sorted(Object.keys(errors.HOST_CODES)), sorted(codes));
});

test('the type lists the codes that the host can see', () => {
  const expected = [...nativeCodes().map((code) => errors.HOST_CODES[code]), ...HOST_ONLY];
  assert.deepEqual(sorted(typed('AcpErrorCode')), sorted(expected));
});

test('the page lists the codes of the type, each once', () => {
  assert.deepEqual(sorted(documented().map(({ code }) => code)), sorted(typed('AcpErrorCode')));
});

test('the page names the class that a code comes with', () => {
  for (const { code, errorClass } of documented()) {
    assert.equal(typeof (/** @type {any} */ (errors)[errorClass]), 'function', `${errorClass} is not exported`);
    const native = Object.keys(errors.HOST_CODES).find((key) => errors.HOST_CODES[key] === code);
    if (!native) continue;
    const extra = { timeoutMs: 1, path: 'agent', systemCode: 'ENOENT' };
    const error = errors.fromNative({ code: native, message: 'x', extra });
    assert.equal(error.constructor.name, errorClass, code);
    assert.equal(error.code, code);
  }
});

test('the phases of the native side are those of the type', () => {
  const source = read('crates/acp-runtime/src/error.rs');
  const body = /pub enum Phase \{([^}]*)\}/.exec(source);
  assert.ok(body);
  const phases = Array.from(body[1].matchAll(/^\s*(\w+),/gm), ([, name]) => name.toLowerCase());
  assert.ok(phases.length > 0);
  assert.deepEqual(sorted(typed('AcpErrorPhase')), sorted(phases));
});

test('the members of a native failure are those that the builder reads', () => {
  const source = read('crates/acp-runtime/src/error.rs');
  const body = /pub struct Details \{([^}]*)\}/.exec(source);
  assert.ok(body);
  const fields = Array.from(body[1].matchAll(/pub (\w+):/g), ([, name]) =>
    name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()));
  const error = errors.fromNative(Object.fromEntries(fields.map((field) => [field, { set: true }])));
  for (const field of fields) assert.ok(field in error, `${field} is lost`);
});
