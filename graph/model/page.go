package model

import "github.com/countersign/countersign/sqlc"

// Connection is a Relay page of T.
type Connection[T any] struct {
	Edges    []Edge[T]
	PageInfo PageInfo
}

// Edge is one T with the cursor that leads on from it.
type Edge[T any] struct {
	Cursor string
	Node   T
}

// PageInfo tells what lies beyond a page.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
}

// The connections of the schema, and their edges.
type ( //nolint:revive // one comment says what all of them are
	ConversationConnection = Connection[*sqlc.Conversation]
	ConversationEdge       = Edge[*sqlc.Conversation]
	MessageConnection      = Connection[*sqlc.Message]
	MessageEdge            = Edge[*sqlc.Message]
	ProposalConnection     = Connection[*sqlc.Proposal]
	ProposalEdge           = Edge[*sqlc.Proposal]
	RecordChangeConnection = Connection[*RecordChange]
	RecordChangeEdge       = Edge[*RecordChange]
)
