package feed

import "github.com/countersign/countersign/internal/id"

// room is those of a workspace who are told together, up to where they were told. It never goes back: whoever
// is behind catches up alone, and is let in where it has got as far. It has a goroutine of its own.
type room struct {
	workspace id.Workspace
	alone     any // the group that is too slow for the others; nil where it is the others
	told      Position
	current   bool // there was nothing more to tell
	heavy     bool // it took too long for it by itself, too
	quick     bool // what there was last took no longer than others would wait
	resting   bool // a slow group is quick again, and is told nothing just now
	groups    map[any]*group
	joining   []*Follower
	joined    chan struct{}
	over      chan struct{} // closed when the last has gone
}

// group is followers who are told the same of an event.
type group struct {
	key     any
	members []*Follower
}

// slowKey names a room of one slow group.
type slowKey struct {
	workspace id.Workspace
	group     any
}

// opened is called with the hub's lock.
func (h *Hub) opened(workspace id.Workspace, alone any, told Position) *room {
	at := &room{workspace: workspace, alone: alone, told: told, groups: map[any]*group{}, joined: make(chan struct{}, 1), over: make(chan struct{})}
	if alone == nil {
		h.rooms[workspace] = at
	} else {
		h.slow[slowKey{workspace, alone}] = at
	}
	h.running.Go(func() { h.attend(h.ctx, at) })
	return at
}

// leftEmpty is called with the hub's lock, when somebody has left.
func (h *Hub) leftEmpty(at *room) {
	if len(at.groups) > 0 || len(at.joining) > 0 || !h.open(at) {
		return
	}
	if at.alone == nil {
		delete(h.rooms, at.workspace)
	} else {
		delete(h.slow, slowKey{at.workspace, at.alone})
	}
	close(at.over)
}

// open is called with the hub's lock.
func (h *Hub) open(at *room) bool {
	return h.rooms[at.workspace] == at || at.alone != nil && h.slow[slowKey{at.workspace, at.alone}] == at
}

// roomOf is where followers of a group are told; nil where nobody of the workspace follows. It is called with the
// hub's lock.
func (h *Hub) roomOf(workspace id.Workspace, key any) *room {
	if at := h.slow[slowKey{workspace, key}]; at != nil {
		return at
	}
	return h.rooms[workspace]
}

// reached says up to where a room was told, and whether that was all.
func (h *Hub) reached(at *room, to Position, all bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at.told, at.current, at.resting = to, all, all && at.quick
}

// told is up to where a workspace that is followed has been told, where that was the end of the feed; for
// others the database knows.
func (h *Hub) told(workspace id.Workspace) (at Position, there bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room, there := h.rooms[workspace]
	if !there || !room.current {
		return 0, false
	}
	return room.told, true
}

// expire ends those who were to be told from a position that is not kept any more.
func (h *Hub) expire(at *room) {
	h.mu.Lock()
	over := []*Follower{}
	for _, g := range at.groups {
		over = append(over, g.members...)
	}
	h.mu.Unlock()
	for _, f := range over {
		f.sub.Expired()
		f.Leave()
	}
}
