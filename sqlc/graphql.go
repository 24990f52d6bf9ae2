// Package sqlc is generated from queries/ and the migrations, but for this file.
package sqlc

// Marker methods, so that rows are the GraphQL types of their name without a layer between.

// IsNode marks a row as a node of the graph.
func (UsersByIDRow) IsNode() {}

// IsNode marks a row as a node of the graph.
func (Workspace) IsNode() {}

// IsNode marks a row as a node of the graph.
func (Conversation) IsNode() {}

// IsNode marks a row as a node of the graph.
func (Message) IsNode() {}

// IsNode marks a row as a node of the graph.
func (Proposal) IsNode() {}

// IsProposeChangeResult marks a proposal as the result of proposing.
func (Proposal) IsProposeChangeResult() {}

// IsDecideResult marks a proposal as the result of deciding.
func (Proposal) IsDecideResult() {}
