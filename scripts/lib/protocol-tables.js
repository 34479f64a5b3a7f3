'use strict';

/**
 * What `docs/protocol.md` says of the tables of the registry beyond the registry itself. Files and tests are checked to exist.
 *
 * @typedef {object} Table
 * @property {string} key In `schema/registry.json`.
 * @property {string} title
 * @property {string} needs The head of the column that says what must be advertised.
 * @property {string} about
 * @property {string[]} [places] Where all of it is implemented. Absent: where the name of each row is written.
 * @property {string[]} [tests] What shows all of it. Absent: the golden transcripts that a row is in.
 */

/** @type {Table[]} */
const TABLES = [
  {
    key: 'agentMethods',
    title: 'Methods that this client calls',
    needs: 'the agent advertises',
    about: 'A call that the agent did not advertise is refused here: `unsupported_capability`, and nothing is sent. *Switch*: only with `unstable: true`.',
  },
  {
    key: 'clientMethods',
    title: 'Methods that this client handles',
    needs: 'this client advertises',
    about: 'Anything else is answered −32601, or ignored where it is a notification. Methods that start with `_` are the host\'s.',
  },
  {
    key: 'parts',
    title: 'Parts of calls with a gate of their own',
    needs: 'the agent advertises',
    about: 'Refused like a method that is not advertised. *Switch*: only with `unstable: true`.',
    places: ['crates/acp-runtime/src/client/requests.rs', 'lib/client/client.js'],
    tests: ['c25_more_directories_only_with_the_marker_and_the_whole_list_each_time', 'c26_mcp_servers_over_http_only_where_they_are_advertised', 'c29_a_system_prompt_is_text_and_goes_to_agents_that_take_one', 'c08_c32_what_cannot_be_sent_is_refused_here', 'c30_options_of_a_saved_session_need_a_way_to_reopen_it', 'a_fork_at_a_cursor_is_asked_for_only_where_the_agent_offers_it'],
  },
  {
    key: 'updates',
    title: 'Session updates',
    needs: 'this client advertises',
    about: 'Each is a typed event of the same name, an unknown one the event `unknown` with what was sent. The golden transcripts show the update and all that the host hears of it.',
  },
  {
    key: 'contentBlocks',
    title: 'Content blocks',
    needs: 'in a prompt: the agent advertises',
    about: 'In a prompt an unadvertised or unknown one is refused here; from the agent any is passed on.',
    places: ['crates/acp-runtime/src/client/requests.rs', 'crates/acp-runtime/src/wire/update.rs'],
    tests: ['a_prompt_of_every_content_block_is_on_record', 'c08_c32_what_cannot_be_sent_is_refused_here', 'w12_c42_unknown_values_are_shown_and_never_chosen'],
  },
  {
    key: 'stopReasons',
    title: 'Stop reasons',
    needs: '',
    about: 'An unknown one is passed on as it came, and is no success.',
    places: ['crates/acp-runtime/src/session/turn.rs', 'crates/acp-runtime/src/ask.rs'],
    tests: ['s10_only_a_clean_stop_is_an_answer', 'w12_c42_an_unknown_stop_reason_is_abnormal_and_told_verbatim', 'c48_an_error_after_a_cancel_is_a_cancelled_turn'],
  },
  {
    key: 'authMethods',
    title: 'Authentication methods',
    needs: 'this client advertises',
    about: 'A method of a type that is not known is shown and never called.',
    places: ['crates/acp-runtime/src/client/handshake.rs', 'lib/client/client.js', 'lib/client/login.js'],
    tests: ['w16_c19_an_agent_that_wants_a_login_says_how_and_works_after_it', 'c16_a_terminal_method_is_not_called', 'c17_signing_in_on_a_terminal_is_offered_only_by_a_host_that_has_one', 'c18_the_command_is_the_launch_with_what_the_method_adds'],
  },
  {
    key: 'toolKinds',
    title: 'Kinds of tool calls',
    needs: '',
    about: 'The kind decides which approval a permission request needs; an unknown one is shown and needs the strictest.',
    places: ['crates/acp-runtime/src/services/permission/mod.rs'],
    tests: ['every_kind_has_its_class'],
  },
  {
    key: 'toolStatuses',
    title: 'States of tool calls',
    needs: '',
    about: 'Kept and shown as they come.',
    places: ['crates/acp-runtime/src/services/permission/tool_calls.rs', 'crates/acp-runtime/src/bridge/mod.rs'],
    tests: ['c35_absent_and_null_leave_a_tool_call_as_it_was', 'callbacks_hear_text_thought_and_tools_in_order'],
  },
  {
    key: 'toolContent',
    title: 'Content of tool calls',
    needs: 'this client advertises',
    about: 'Passed on as it comes, also where a type is not known.',
    places: ['crates/acp-runtime/src/services/permission/tool_calls.rs', 'lib/client/events.js'],
    tests: ['each_update_is_on_record_with_what_the_host_hears_of_it', 'c35_absent_and_null_leave_a_tool_call_as_it_was'],
  },
  {
    key: 'permissionOptions',
    title: 'Kinds of permission options',
    needs: '',
    about: 'One of an unknown kind is shown, and chosen by a person only.',
    places: ['crates/acp-runtime/src/services/permission/options.rs'],
    tests: ['s07_c52_a_denial_never_becomes_an_approval_and_nothing_lasts', 'unknown_kinds_can_be_picked_by_a_person_only'],
  },
  {
    key: 'configOptions',
    title: 'Types of configuration options',
    needs: 'this client advertises',
    about: 'One of an unknown type is kept in its place.',
    places: ['lib/client/session.js'],
    tests: ['c61_options_keep_their_order_and_a_response_or_an_update_replaces_them_all', 'c62_a_boolean_is_sent_as_one_and_only_offered_when_it_is_understood'],
  },
  {
    key: 'mcpServers',
    title: 'Transports of MCP servers',
    needs: 'the agent advertises',
    about: 'The shape is checked here, since agents answer a wrong one with nothing but a number.',
    places: ['crates/acp-runtime/src/client/requests.rs'],
    tests: ['c26_mcp_servers_over_http_only_where_they_are_advertised', 'a_server_of_the_host_is_given_only_to_agents_that_take_one'],
  },
  {
    key: 'elicitationModes',
    title: 'Modes of elicitations',
    needs: 'this client advertises',
    about: 'Offered only when the host answers them.',
    places: ['crates/acp-runtime/src/connection/inbound.rs', 'crates/acp-runtime/src/services/elicitation/mod.rs', 'lib/client/elicitation.js'],
    tests: ['elicitations_are_on_record', 'c59_each_mode_is_open_only_where_it_was_advertised', 'c60_the_end_of_an_elicitation_that_nobody_knows_is_nothing'],
  },
];

/** Rules about single methods and updates. @type {Record<string, number[]>} */
const RULES_OF = {
  initialize: [10, 11, 12, 13, 14],
  authenticate: [16, 19],
  logout: [15, 19],
  'auth/status': [20],
  'auth/status_update': [20],
  'session/new': [24, 25, 26, 29, 30, 31],
  'session/load': [21, 22, 24],
  'session/resume': [21, 23, 24],
  'session/fork': [21],
  'session/list': [21, 27],
  'session/delete': [21, 28],
  'session/close': [21],
  'session/options': [30],
  'session/set_config_option': [61, 62],
  'session/prompt': [32, 33, 41, 42],
  'session/cancel': [43, 44, 45, 46, 47, 48],
  'session/update': [5, 31, 33],
  'session/request_permission': [43, 46, 52, 53],
  'fs/read_text_file': [8, 55],
  'fs/write_text_file': [8, 54],
  'terminal/create': [56, 57],
  'terminal/output': [57],
  'terminal/wait_for_exit': [56],
  'terminal/kill': [58],
  'terminal/release': [58],
  'elicitation/create': [59],
  'elicitation/complete': [60],
  '$/cancel_request': [49, 50, 51],
  user_message_chunk: [34],
  agent_message_chunk: [33, 34],
  agent_thought_chunk: [34],
  tool_call: [35, 37, 44],
  tool_call_update: [35, 37, 44],
  plan: [36],
  plan_update: [36],
  plan_removed: [36],
  config_option_update: [61],
  notice: [38],
  compaction_update: [39],
  compaction_summary_chunk: [39],
  subagent_update: [40],
  session_message: [40],
  session_message_chunk: [40],
};

module.exports = { RULES_OF, TABLES };
