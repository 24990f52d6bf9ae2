package feed

// join is called with the hub's lock.
func (h *Hub) join(f *Follower) {
	workspace := f.seat.holder.key.workspace
	at := h.roomOf(workspace, f.sub.Group())
	if at == nil {
		at = h.opened(workspace, nil, f.at)
	}
	f.room = at
	at.joining = append(at.joining, f)
	select {
	case at.joined <- struct{}{}:
	default: // it will look in any case
	}
}

// admit lets in those who have joined, and gives the position after which they and the others are to be told. Who
// was overtaken meanwhile catches up again. false where nobody is there.
func (h *Hub) admit(at *room) (from Position, followed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.open(at) {
		return 0, false
	}
	at.resting = false
	h.takeBack(at)
	coming := at.joining
	at.joining = nil
	for _, f := range coming {
		switch key := f.sub.Group(); {
		case h.roomOf(at.workspace, key) != at:
			h.join(f)
		case f.at < at.told:
			f.room = nil
			h.running.Go(func() { h.catchUp(h.ctx, f) })
		default:
			if at.groups[key] == nil {
				at.groups[key] = &group{key: key}
			}
			f.room = at
			at.groups[key].add(f)
		}
	}
	h.leftEmpty(at)
	return at.told, h.open(at)
}

// takeBack lets groups in that were slow and are not any more. It is called with the hub's lock.
func (h *Hub) takeBack(at *room) {
	if at.alone != nil {
		return
	}
	for key, other := range h.slow {
		if key.workspace != at.workspace || !other.resting || other.told < at.told || at.groups[key.group] != nil {
			continue
		}
		g := other.groups[key.group]
		other.groups = map[any]*group{}
		at.joining = append(at.joining, other.joining...)
		other.joining = nil
		h.leftEmpty(other)
		if g != nil {
			at.groups[g.key] = g
			g.move(at)
		}
	}
}

// part has a group go on by itself from where its room is.
func (h *Hub) part(at *room, g *group) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at.groups[g.key] != g {
		return // all of it has left
	}
	delete(at.groups, g.key)
	other := h.opened(at.workspace, g.key, at.told)
	other.groups[g.key] = g
	g.move(other)
	h.leftEmpty(at)
}

func (g *group) move(to *room) {
	for _, f := range g.members {
		f.room = to
	}
}
