//! Launching the agent and owning its process tree.
