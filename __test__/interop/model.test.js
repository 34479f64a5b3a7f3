'use strict';

// The fake model server: four protocols, streamed and whole, steered by the prompt.

const assert = require('node:assert/strict');
const zlib = require('node:zlib');
const { after, before, describe, test } = require('node:test');

const { picture } = require('../../interop/lib/image.js');
const { HELLO } = require('../../interop/model/steer.js');
const { fillArguments, findShellTool, findWriteTool, sample } = require('../../interop/model/tools.js');
const { FakeModel } = require('../../interop/model/server.js');

const PARAMETERS = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };

/** How each protocol asks, and where its answer holds text and calls. */
const PROTOCOLS = {
  'anthropic-messages': {
    path: () => '/v1/messages',
    body: (/** @type {string} */ text) => ({
      messages: [{ role: 'user', content: text }],
      tools: [{ name: 'Bash', input_schema: PARAMETERS }],
    }),
    afterTool: { messages: [{ role: 'user', content: [{ type: 'tool_result', content: 'STEER:shell' }] }] },
    text: (/** @type {any} */ answer) => answer.content[0].text,
    call: (/** @type {any} */ answer) => [answer.content[0].name, answer.content[0].input],
    pieces: (/** @type {any[]} */ events) => events.flatMap((event) => event.delta?.text ?? []),
    streamedCall: (/** @type {any[]} */ events) =>
      JSON.parse(events.map((event) => event.delta?.partial_json ?? '').join('')),
  },
  'openai-chat': {
    path: () => '/v1/chat/completions',
    body: (/** @type {string} */ text) => ({
      messages: [{ role: 'user', content: text }],
      tools: [{ type: 'function', function: { name: 'Bash', parameters: PARAMETERS } }],
    }),
    afterTool: { messages: [{ role: 'tool', content: 'STEER:shell' }] },
    text: (/** @type {any} */ answer) => answer.choices[0].message.content,
    call: (/** @type {any} */ answer) => {
      const { name, arguments: args } = answer.choices[0].message.tool_calls[0].function;
      return [name, JSON.parse(args)];
    },
    pieces: (/** @type {any[]} */ events) => events.flatMap((event) => event.choices?.[0]?.delta.content || []),
    streamedCall: (/** @type {any[]} */ events) =>
      JSON.parse(events.flatMap((event) => event.choices?.[0]?.delta.tool_calls ?? [])[0].function.arguments),
  },
  'openai-responses': {
    path: () => '/v1/responses',
    body: (/** @type {string} */ text) => ({
      input: [{ role: 'user', content: text }],
      tools: [{ type: 'function', name: 'Bash', parameters: PARAMETERS }],
    }),
    afterTool: { input: [{ type: 'function_call_output', output: 'STEER:shell' }] },
    text: (/** @type {any} */ answer) => answer.output[0].content[0].text,
    call: (/** @type {any} */ answer) => [answer.output[0].name, JSON.parse(answer.output[0].arguments)],
    pieces: (/** @type {any[]} */ events) =>
      events.filter((event) => event.type === 'response.output_text.delta').map((event) => event.delta),
    streamedCall: (/** @type {any[]} */ events) =>
      JSON.parse(events.find((event) => event.type === 'response.function_call_arguments.done').arguments),
  },
  gemini: {
    path: (/** @type {boolean} */ stream) =>
      `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (/** @type {string} */ text) => ({
      contents: [{ role: 'user', parts: [{ text }] }],
      tools: [{ functionDeclarations: [{ name: 'Bash', parametersJsonSchema: PARAMETERS }] }],
    }),
    afterTool: { contents: [{ role: 'user', parts: [{ functionResponse: { response: 'STEER:shell' } }] }] },
    text: (/** @type {any} */ answer) => answer.candidates[0].content.parts[0].text,
    call: (/** @type {any} */ answer) => {
      const { name, args } = answer.candidates[0].content.parts[0].functionCall;
      return [name, args];
    },
    pieces: (/** @type {any[]} */ events) => events.flatMap((event) => event.candidates[0].content.parts[0].text || []),
    streamedCall: (/** @type {any[]} */ events) => events[0].candidates[0].content.parts[0].functionCall.args,
  },
};

describe('the fake model', () => {
  const model = new FakeModel();
  before(async () => {
    await model.listen();
    model.workDir = '/project/dir';
  });
  after(() => model.close());

  /**
   * @param {string} path
   * @param {object} body
   */
  const post = (path, body) =>
    fetch(`http://127.0.0.1:${model.port}${path}`, { method: 'POST', body: JSON.stringify(body) });

  for (const [name, protocol] of Object.entries(PROTOCOLS)) {
    /** @param {string} text */
    const whole = async (text) => (await post(protocol.path(false), protocol.body(text))).json();
    /** @param {string} text @returns {Promise<any[]>} */
    const streamed = async (text) => {
      const answer = await post(protocol.path(true), { ...protocol.body(text), stream: true });
      const lines = (await answer.text()).split('\n').filter((line) => line.startsWith('data: {'));
      return lines.map((line) => JSON.parse(line.slice(6)));
    };

    test(`${name} answers with text`, async () => assert.equal(protocol.text(await whole('Hi')), HELLO));

    test(`${name} answers with a call that writes where the server says`, async () => {
      const [tool, args] = protocol.call(await whole('Go on. STEER:shell'));
      assert.equal(tool, 'Bash');
      assert.match(args.command, /> '\/project\/dir\/interop-shell\.txt'/);
    });

    test(`${name} streams text`, async () => {
      const pieces = protocol.pieces(await streamed('Hi'));
      assert.ok(pieces.length > 1);
      assert.equal(pieces.join(''), HELLO);
    });

    test(`${name} streams a call`, async () => {
      assert.match(protocol.streamedCall(await streamed('STEER:shell')).command, /interop-shell/);
    });

    test(`${name} is steered once: a tool's result ends it`, async () => {
      const body = { ...protocol.body(''), ...protocol.afterTool };
      const answer = await (await post(protocol.path(false), body)).json();
      assert.equal(protocol.text(answer), HELLO);
    });
  }

  test('a prompt after a result of a tool steers again', async () => {
    const { path, text } = PROTOCOLS['openai-chat'];
    const messages = [
      { role: 'assistant', content: null },
      { role: 'tool', content: 'STEER:shell' },
    ];
    const tools = [{ type: 'function', function: { name: 'Bash', parameters: PARAMETERS } }];
    assert.equal(text(await (await post(path(), { messages, tools })).json()), HELLO);
    const more = [...messages, { role: 'user', content: 'STEER:shell' }];
    const answer = /** @type {any} */ (await (await post(path(), { messages: more, tools })).json());
    assert.equal(answer.choices[0].message.tool_calls[0].function.name, 'Bash');
  });

  test("an MCP server's tool is called by the name that the agent gives it", async () => {
    const { path, call } = PROTOCOLS['openai-chat'];
    const parameters = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
    /** @param {string[]} names */
    const ask = async (...names) => {
      const tools = names.map((name) => ({ type: 'function', function: { name, parameters } }));
      return call(await (await post(path(), { messages: [{ role: 'user', content: 'STEER:mcp' }], tools })).json());
    };
    assert.equal((await ask('Bash', 'tool_search', 'mcp__interop__interop_mark'))[0], 'mcp__interop__interop_mark');
    assert.deepEqual(await ask('Bash', 'tool_search'), ['tool_search', { query: 'interop' }]);
  });

  test('a tool in a namespace is called in it', async () => {
    model.reset();
    const tool = { type: 'function', name: 'interop_mark', parameters: { type: 'object', properties: {} } };
    const response = await post('/v1/responses', {
      input: [{ role: 'user', content: 'STEER:mcp' }],
      tools: [{ type: 'namespace', name: 'mcp__interop', tools: [tool] }],
    });
    const [item] = /** @type {any} */ (await response.json()).output;
    assert.deepEqual([item.namespace, item.name], ['mcp__interop', 'interop_mark']);
    assert.deepEqual(model.requests[0].tools, ['interop_mark']);
  });

  test('a picture in the conversation is seen, and which model was asked', async () => {
    model.reset();
    const data = picture();
    assert.equal(Buffer.from(data, 'base64').toString('latin1', 1, 4), 'PNG');
    const url = `data:image/png;base64,${data}`;
    /** @type {[string, object][]} */
    const requests = [
      ['/v1/messages', { messages: [{ role: 'user', content: [{ type: 'image', source: { data } }] }] }],
      ['/v1/chat/completions', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }],
      ['/v1/responses', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] }],
    ];
    for (const [path, body] of requests) await post(path, { model: 'm', ...body });
    const contents = [{ role: 'user', parts: [{ inlineData: { data } }] }];
    await post('/v1beta/models/m:generateContent', { contents });
    await post('/v1/messages', { model: 'm', messages: [{ role: 'user', content: 'type: image' }] });
    assert.deepEqual(
      model.requests.map((request) => [request.model, request.picture]),
      [['m', true], ['m', true], ['m', true], ['m', true], ['m', false]],
    );
  });

  test('an agent that hangs up is seen', async () => {
    model.reset();
    const stop = new AbortController();
    const { path, body } = PROTOCOLS['openai-chat'];
    const response = await fetch(`http://127.0.0.1:${model.port}${path()}`, {
      method: 'POST',
      body: JSON.stringify({ ...body('STEER:slow'), stream: true }),
      signal: stop.signal,
    });
    assert.ok(response.body);
    await response.body.getReader().read();
    stop.abort();
    while (!model.requests[0].hungUp) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(model.requests[0].word, 'slow');
  });

  test('a compressed request is read', async () => {
    const { path, body, text } = PROTOCOLS['openai-chat'];
    const response = await fetch(`http://127.0.0.1:${model.port}${path()}`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: zlib.gzipSync(JSON.stringify(body('Hi'))),
    });
    assert.equal(text(await response.json()), HELLO);
  });

  test('an agent without a fitting tool gets text', async () => {
    const { path, text } = PROTOCOLS['openai-chat'];
    const response = await post(path(), { messages: [{ role: 'user', content: 'STEER:shell' }], tools: [] });
    assert.equal(text(await response.json()), HELLO);
  });

  test('what is no model call is answered and kept', async () => {
    model.reset();
    const response = await fetch(`http://127.0.0.1:${model.port}/v1/models`);
    assert.ok(/** @type {any} */ (await response.json()).data.length > 0);
    assert.deepEqual(model.others, ['GET /v1/models']);
  });
});

describe('the choice of a tool', () => {
  const shell = { name: 'run_shell_command', schema: { properties: { command: { type: 'string' } } } };
  const editor = {
    name: 'editor',
    schema: { properties: { command: { enum: ['view', 'create'] }, path: {}, file_text: {} } },
  };
  const write = { name: 'WriteFile', schema: { properties: { file_path: {}, content: {} } } };
  const search = { name: 'create_search', schema: { properties: { query: { type: 'string' } } } };

  test('is by name and by schema', () => {
    assert.equal(findShellTool([search, write, shell]), shell);
    assert.equal(findWriteTool([search, shell, editor, write]), write);
    assert.equal(findWriteTool([shell, editor]), editor);
    assert.equal(findWriteTool([search, shell]), undefined);
  });

  test("fills the tool's own argument names, and what else it requires", () => {
    const schema = {
      properties: {
        cmd: { type: ['array', 'null'] },
        workdir: { type: 'string' },
        note: { enum: ['a', 'b'] },
        spare: {},
      },
      required: ['cmd', 'workdir', 'note'],
    };
    assert.deepEqual(fillArguments(schema, { command: 'ls', cwd: '/w' }), {
      cmd: ['bash', '-lc', 'ls'],
      workdir: '/w',
      note: 'a',
    });
    assert.deepEqual(fillArguments(editor.schema, { path: '/w/f', content: 'x', cwd: '/w' }), {
      command: 'create',
      path: '/w/f',
      file_text: 'x',
    });
  });

  test('samples the smallest value of a schema', () => {
    const schema = {
      type: 'OBJECT',
      properties: {
        who: { type: 'STRING', enum: ['user', 'model'] },
        n: { type: 'integer', minimum: 3 },
        list: { type: 'array' },
      },
    };
    assert.deepEqual(sample(schema), { who: 'user', n: 3, list: [] });
  });
});
