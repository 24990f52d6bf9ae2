package graph

import (
	"crypto/sha256"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/countersign/countersign/internal/identity"
)

// What one credential may have made for it: each event is made once for each selection that differs.
const (
	maxSelections = 50
	maxFollowed   = 50_000 // of complexity, all together
)

// asking is what is made for one credential.
type asking struct {
	uses map[[sha256.Size]byte]int
	cost int
}

// shared gives the selection that others follow by already, or else this one, to be released.
func (s *streams) shared(mine *selection, by identity.Credential) (*selection, *gqlerror.Error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if other, there := s.selections[mine.key]; there {
		mine = other
	}
	of := s.asking[by]
	if of == nil {
		of = &asking{uses: map[[sha256.Size]byte]int{}}
	}
	if of.uses[mine.key] == 0 {
		switch {
		case len(of.uses) >= maxSelections:
			return nil, exceeded("different subscriptions of one credential", maxSelections, len(of.uses)+1)
		case of.cost+mine.cost > maxFollowed:
			return nil, exceeded("complexity of all that one credential follows", maxFollowed, of.cost+mine.cost)
		}
		of.cost += mine.cost
	}
	s.asking[by] = of
	of.uses[mine.key]++
	s.selections[mine.key] = mine
	mine.used++
	return mine, nil
}

func (s *selection) release(by identity.Credential) {
	s.streams.lock.Lock()
	defer s.streams.lock.Unlock()
	if s.used--; s.used == 0 {
		delete(s.streams.selections, s.key)
	}
	of := s.streams.asking[by]
	if of.uses[s.key]--; of.uses[s.key] == 0 {
		delete(of.uses, s.key)
		of.cost -= s.cost
	}
	if len(of.uses) == 0 {
		delete(s.streams.asking, by)
	}
}
