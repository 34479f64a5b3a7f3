'use strict';

const { inOrder, notOffered, refused, valuesOf } = require('../lib/offers.js');
const { describe, fail, ok } = require('../lib/verdict.js');

const THINKING = /think|thought|reason|effort/i;

/** How many models are tried. */
const MOST_MODELS = 3;

const parts = [
  { id: 'modes', title: 'The mode is changed and shown as changed.' },
  { id: 'config', title: 'A configuration option, where it can be one of no special meaning, is changed.' },
  { id: 'thinking', title: 'The option that chooses how much the model thinks is changed.' },
  { id: 'model', title: '`setModel` changes the model, and the next prompt goes to it.' },
  { id: 'providers', title: 'The providers are listed, and one is set.' },
];

/** @param {any} option */
const isModel = (option) => option.id === 'model' || (option.category === 'model' && option.id !== 'provider');
/** @param {any} option */
const isThinking = (option) =>
  option.category === 'thought_level' || (THINKING.test(option.id) && option.category !== 'mode');
/** @param {any} option */
const isMode = (option) => option.category === 'mode' || option.id === 'mode';

/** @type {import('./index.js').Check} */
module.exports = {
  id: 'settings',
  title: 'Modes, configuration options, thinking level, model and providers are changed.',
  parts,
  async run(test) {
    // The providers belong to the unstable part of the protocol.
    const { client, session } = await test.open('deny', { unstable: true });
    /** @returns {any[]} */
    const options = () => session.configOptions ?? [];
    return inOrder({
      modes: async () => {
        if (!session.modes) return refused(test, () => session.setMode('any'));
        const { availableModes, currentModeId } = session.modes;
        const other = availableModes.find((/** @type {any} */ mode) => mode.id !== currentModeId)?.id ?? currentModeId;
        await test.within(session.setMode(other), 'session/set_mode');
        if (session.modes.currentModeId !== other) return fail(`the mode is ${session.modes.currentModeId}`);
        await test.within(session.setMode(currentModeId), 'session/set_mode');
        return ok(other === currentModeId ? 'there is one mode' : `${availableModes.length} modes`);
      },
      config: async () => {
        if (!session.configOptions) return refused(test, () => session.setConfigOption('any', true));
        const isPlain = (/** @type {any} */ each) => ![isModel, isThinking, isMode].some((is) => is(each));
        const plain = options().filter((each) => isPlain(each) && each.category !== 'model');
        const special = [...options().filter((each) => !isModel(each)), ...options()];
        const option = [...plain, ...special].find((each) => valuesOf(each).length > 1) ?? options()[0];
        if (!option) return notOffered('the list is empty');
        return change(test, session, option);
      },
      thinking: async () => {
        const option = options().find(isThinking);
        return option ? change(test, session, option) : notOffered();
      },
      model: async () => {
        const option = options().find(isModel);
        if (!option) return refused(test, () => session.setModel('any'));
        const before = await asked(test, session);
        const current = String(option.currentValue);
        const others = valuesOf(option).filter((value) => value !== current);
        // Another provider's may need a login: those whose names begin like the current one's come first.
        others.sort((a, b) => alike(String(b), current) - alike(String(a), current));
        let problem = '';
        for (const other of others.slice(0, MOST_MODELS)) {
          try {
            await test.within(session.setModel(other), 'setModel');
          } catch (error) {
            problem = describe(error);
            continue;
          }
          const now = options().find(isModel)?.currentValue;
          if (now !== other) return fail(`${now} instead of ${other}`);
          const after = await asked(test, session).catch((error) => `nothing: ${describe(error)}`);
          return ok(before === after ? '' : `the model is asked for ${after} instead of ${before}`);
        }
        await test.within(session.setModel(option.currentValue), 'setModel');
        return ok(problem ? `only the current one: ${problem}` : 'there is one model');
      },
      providers: async () => {
        if (!client.agentCapabilities.providers) return refused(test, () => client.listProviders());
        const providers = await test.within(client.listProviders(), 'providers/list');
        const current = options().find(isModel)?.currentValue;
        const provider = providers.find((/** @type {any} */ each) => each.providerId !== current) ?? providers[0];
        if (!provider) return ok('none in the list');
        const apiType = provider.current?.apiType ?? provider.supported[0];
        const settings = { providerId: provider.providerId, apiType, baseUrl: test.modelUrl };
        await test.within(client.setProvider(settings), 'providers/set');
        const model = await asked(test, session).catch((error) => describe(error));
        return ok(`${providers.length} listed; with \`${provider.providerId}\` the model asked for is ${model}`);
      },
    });
  },
};

/** How many characters two names begin with in common. @param {string} a @param {string} b */
function alike(a, b) {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/**
 * Chooses another value of an option, and then the first again.
 *
 * @param {import('../lib/case.js').Case} test
 * @param {any} session
 * @param {any} option
 */
async function change(test, session, option) {
  const other = valuesOf(option).find((value) => value !== option.currentValue) ?? option.currentValue;
  const answer = await test.within(session.setConfigOption(option.id, other), 'session/set_config_option');
  const now = answer.find((/** @type {any} */ each) => each.id === option.id)?.currentValue;
  const what = `\`${option.id}\` from \`${option.currentValue}\` to \`${other}\``;
  if (now !== other) return fail(`${what}: it is ${now}`);
  await test.within(session.setConfigOption(option.id, option.currentValue), 'session/set_config_option');
  return ok(what);
}

/**
 * @param {import('../lib/case.js').Case} test
 * @param {any} session
 * @returns {Promise<string | undefined>} which model a prompt goes to
 */
async function asked(test, session) {
  await test.within(session.prompt(test.say('hello')), 'the turn');
  return test.asked('hello').at(-1)?.model;
}
