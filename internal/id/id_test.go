package id_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/id"
)

func TestAnIDOfAnotherNounIsRefused(t *testing.T) {
	for _, text := range []string{
		id.NewConversation().String(), "", "prop_", "prop", "prop_zzz", "31",
		"PROP_01j9qj8vxre2t9x8m3v8d8s6ge", "prop_81j9qj8vxre2t9x8m3v8d8s6ge", id.NewProposal().UUID().String(),
	} {
		if _, err := id.ParseProposal(text); !errors.Is(err, id.ErrMalformed) {
			t.Errorf("ParseProposal(%q) = %v, want ErrMalformed", text, err)
		}
	}
}

func TestAnIDSurvivesJSON(t *testing.T) {
	want := id.NewProposal()
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got id.Proposal
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Fatalf("%s came back as %s: %v", want, got, err)
	}
}

func TestNewIDsSort(t *testing.T) {
	last := ""
	for range 1000 {
		s := id.NewEvent().String()
		if s <= last {
			t.Fatalf("%s was made after %s and sorts before it", s, last)
		}
		last = s
	}
}

func FuzzParse(f *testing.F) {
	f.Add(id.NewProposal().String())
	f.Add("prop_\x00")
	f.Fuzz(func(t *testing.T, s string) {
		got, err := id.ParseProposal(s)
		if err == nil && got.String() != s {
			t.Fatalf("%q was read as %q", s, got)
		}
	})
}
