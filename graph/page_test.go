package graph

import (
	"errors"
	"math"
	"testing"

	"github.com/countersign/countersign/internal/id"
)

func number(n int32) *int32 { return &n }

func TestWindow(t *testing.T) {
	cursor := "x"
	for _, c := range []struct {
		name          string
		first, last   *int32
		after, before *string
		size          int
		forward       bool
		field         string
	}{
		{name: "neither", size: 20, forward: true},
		{name: "first", first: number(5), after: &cursor, size: 5, forward: true},
		{name: "last, where first has its default", first: number(20), last: number(3), before: &cursor, size: 3},
		{name: "zero", first: number(0), field: "first"},
		{name: "negative", first: number(-1), field: "first"},
		{name: "huge", first: number(101), field: "first"},
		{name: "negative last", last: number(-1), field: "last"},
	} {
		w, err := windowOf(c.first, c.after, c.last, c.before, 20)
		if bad := (*problem)(nil); errors.As(err, &bad) {
			if bad.field != c.field {
				t.Errorf("%s: refused for %q", c.name, bad.field)
			}
			continue
		}
		if c.field != "" || w.size != c.size || w.forward != c.forward {
			t.Errorf("%s: %+v, %v", c.name, w, err)
		}
	}
}

func TestConnect(t *testing.T) {
	cursor := "x"
	text := func(i int) string { return string(rune('a' + i)) }
	forward := connect(window{size: 2, cursor: &cursor, forward: true}, []int{1, 2, 3}, text)
	if len(forward.Edges) != 2 || !forward.PageInfo.HasNextPage || !forward.PageInfo.HasPreviousPage || *forward.PageInfo.EndCursor != "c" {
		t.Errorf("forward: %+v", forward)
	}
	backward := connect(window{size: 2}, []int{3, 2, 1}, text)
	if backward.Edges[0].Node != 2 || backward.Edges[1].Node != 3 || !backward.PageInfo.HasPreviousPage || backward.PageInfo.HasNextPage {
		t.Errorf("backward: %+v", backward)
	}
	empty := connect(window{size: 2, forward: true}, []int{}, text)
	if len(empty.Edges) != 0 || empty.PageInfo.EndCursor != nil || empty.PageInfo.HasNextPage {
		t.Errorf("empty: %+v", empty)
	}
}

func FuzzCursor(f *testing.F) {
	own := id.NewWorkspace()
	f.Add(place{List: "NEWEST", Workspace: own, Number: 7}.String())
	f.Add("")
	f.Add("bm90IGpzb24")
	f.Add(place{List: "records", Number: math.MaxInt32}.String())
	f.Fuzz(func(t *testing.T, cursor string) {
		p, err := placeOf(cursor, "NEWEST", own)
		if err == nil && (p.Workspace != own || p.List != "NEWEST") {
			t.Fatalf("%q leads to %+v", cursor, p)
		}
		at, err := position(cursor, "records")
		if err == nil && cursor == "" {
			t.Fatal("an empty cursor is a position")
		}
		if err == nil && (at < 0 || int64(at)+maxPage+1 > math.MaxInt32) {
			t.Fatalf("%d is past what a page can be counted in", at)
		}
	})
}

func TestACursorOfAnotherListOrWorkspaceIsRefused(t *testing.T) {
	own, other := id.NewWorkspace(), id.NewWorkspace()
	cursor := place{List: "NEWEST", Workspace: own, Number: 7}.String()
	if _, err := placeOf(cursor, "NEWEST", own); err != nil {
		t.Error(err)
	}
	for _, where := range []struct {
		list string
		ws   id.Workspace
	}{{"EXPIRES_SOONEST", own}, {"NEWEST", other}} {
		if _, err := placeOf(cursor, where.list, where.ws); err == nil {
			t.Errorf("the cursor leads into %s of %s", where.list, where.ws)
		}
	}
}
