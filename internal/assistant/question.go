package assistant

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/internal/id"
	"github.com/countersign/countersign/internal/redact"
)

// Bounds of what may be sent, in characters.
const (
	MaxContent = 4000
	MaxKey     = 200
	MaxTitle   = 200
)

// question is a message as it was sent. Without a key it is another one each time.
type question struct {
	conversation id.Conversation
	content      string
	key          string
}

func (q question) check() error {
	if err := bounded("content", "A message", q.content, MaxContent); err != nil {
		return err
	}
	if q.key == "" {
		return nil
	}
	return bounded("idempotencyKey", "An idempotency key", q.key, MaxKey)
}

// hash tells messages apart that are sent under one key.
func (q question) hash() []byte {
	sum := sha256.Sum256([]byte("message\x001\x00" + q.content))
	return sum[:]
}

// keyed is the key as it is stored.
func (q question) keyed() *string {
	if q.key == "" {
		return nil
	}
	return new(redact.Key(q.key))
}

// bounded refuses a text that is blank, too long, or none that the database can hold.
func bounded(field, what, text string, limit int) error {
	switch {
	case strings.TrimSpace(text) == "" || utf8.RuneCountInString(text) > limit:
		return &InputError{field, limit, fmt.Sprintf("%s has 1 to %d characters.", what, limit)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &InputError{field, limit, what + " is text without NUL characters."}
	}
	return nil
}
