//! The Node binding: converts, calls the core, converts back. It holds no decisions.
