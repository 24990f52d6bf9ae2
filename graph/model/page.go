package model

import (
	"github.com/countersign/countersign/internal/feed"
	"github.com/countersign/countersign/sqlc"
)

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

// ProposalEventConnection is a page of the feed. Cursor is the place reached, with or without edges.
type ProposalEventConnection struct {
	Connection[*feed.Item]
	Cursor string
}

// PageInfo tells what lies beyond a page.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
	EndCursor       *string
}

// The connections of the schema, and their edges.
type (
	// ConversationConnection is a page of conversations.
	ConversationConnection = Connection[*sqlc.Conversation]
	// ConversationEdge is one of the page.
	ConversationEdge = Edge[*sqlc.Conversation]
	// MessageConnection is a page of messages.
	MessageConnection = Connection[*sqlc.Message]
	// MessageEdge is one of the page.
	MessageEdge = Edge[*sqlc.Message]
	// ProposalConnection is a page of proposals.
	ProposalConnection = Connection[*sqlc.Proposal]
	// ProposalEdge is one of the page.
	ProposalEdge = Edge[*sqlc.Proposal]
	// RecordChangeConnection is a page of the records of one proposal.
	RecordChangeConnection = Connection[*RecordChange]
	// RecordChangeEdge is one of the page.
	RecordChangeEdge = Edge[*RecordChange]
	// RevertConflictConnection is a page of what a proposal that undoes another leaves as it is.
	RevertConflictConnection = Connection[*RevertConflict]
	// RevertConflictEdge is one of the page.
	RevertConflictEdge = Edge[*RevertConflict]
	// ProposalEventEdge is one of a page of the feed.
	ProposalEventEdge = Edge[*feed.Item]
)
