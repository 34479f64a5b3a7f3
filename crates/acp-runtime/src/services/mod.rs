//! What the client does on behalf of the agent: the permission floor, files, terminals.
