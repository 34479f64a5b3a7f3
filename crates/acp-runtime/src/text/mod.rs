//! Text from the agent: sanitising, bounding, redaction, recovery of JSON from prose.
