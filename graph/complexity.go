package graph

import (
	"github.com/countersign/countersign/graph/generated"
	"github.com/countersign/countersign/graph/model"
)

// burst is as how many events a subscription counts: so many are made together where much happens.
const burst = 20

// price says what a list costs: what one element costs, as often as may be asked for.
func price(c *generated.ComplexityRoot) {
	page := func(child int, first *int32, usual int) int {
		n := usual
		if first != nil {
			n = min(max(int(*first), 1), maxPage)
		}
		return 1 + n*child
	}
	two := func(child int, first, last *int32, usual int) int {
		if last != nil {
			first = last
		}
		return page(child, first, usual)
	}
	c.Query.Conversations = func(child int, first *int32, _ *string) int { return page(child, first, 20) }
	c.Query.Proposals = func(child int, _ *model.ProposalFilter, _ *model.ProposalOrder, first *int32, _ *string, last *int32, _ *string) int {
		return two(child, first, last, 20)
	}
	c.Query.ProposalEvents = func(child int, _ *string, first *int32, _ *model.ProposalFilter) int {
		n := usualEvents
		if first != nil {
			n = min(max(int(*first), 1), maxEvents)
		}
		return 1 + n*child
	}
	c.Subscription.ProposalEvents = func(child int, _ *string, _ *model.ProposalFilter) int { return 1 + burst*child }
	c.Conversation.Messages = func(child int, first *int32, _ *string, last *int32, _ *string) int {
		return two(child, first, last, 50)
	}
	c.Conversation.Proposals = func(child int, first *int32, _ *string) int { return page(child, first, 20) }
	c.ChangeSummary.Records = func(child int, first *int32, _ *string) int { return page(child, first, 20) }
	c.Proposal.RevertConflicts = func(child int, first *int32, _ *string) int { return page(child, first, 20) }
	c.Failure.Records = func(child int, first *int32, _ *string) int { return page(child, first, 20) }
}
