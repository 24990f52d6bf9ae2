// Package id has one type for each noun that has an id, so that a conversation's id cannot be passed
// for a proposal's. Outside the process an id is a TypeID (prop_01j9…), in the database its uuid.
// A new id sorts after those made before it.
package id

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"go.jetify.com/typeid"
)

// ErrMalformed says that a text is not an id of the kind asked for. Surfaces answer it as NOT_FOUND,
// since such an id names nothing.
var ErrMalformed = errors.New("no such id")

type noun interface{ prefix() string }

// key is what every id is: a uuid and, in its type, the prefix it is printed with.
type key[N noun] struct{ uuid uuid.UUID }

func (k key[N]) prefix() string { var n N; return n.prefix() }

// UUID gives the value stored in the database.
func (k key[N]) UUID() uuid.UUID { return k.uuid }

// IsZero tells whether this is no id at all.
func (k key[N]) IsZero() bool { return k.uuid == uuid.Nil }

// String gives the TypeID.
func (k key[N]) String() string {
	t, err := typeid.FromUUIDBytesWithPrefix(k.prefix(), k.uuid[:])
	if err != nil {
		return k.prefix() + "_" + k.uuid.String()
	}
	return t.String()
}

func (k *key[N]) parse(s string) error {
	t, err := typeid.FromString(s)
	if err != nil || t.Prefix() != k.prefix() {
		return fmt.Errorf("%w: %.80q", ErrMalformed, s)
	}
	k.uuid = uuid.UUID(t.UUIDBytes())
	return nil
}

// MarshalText makes ids TypeIDs in JSON, logs and map keys.
func (k key[N]) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a TypeID; ErrMalformed for any other text.
func (k *key[N]) UnmarshalText(b []byte) error { return k.parse(string(b)) }

func (k key[N]) write(w io.Writer) { _, _ = io.WriteString(w, strconv.Quote(k.String())) }

func (k *key[N]) read(v any) error {
	switch v := v.(type) {
	case string:
		return k.parse(v)
	case json.Number:
		return k.parse(v.String())
	}
	return ErrMalformed
}

// ScanUUID reads the database's uuid; NULL is the zero id.
func (k *key[N]) ScanUUID(v pgtype.UUID) error {
	k.uuid = v.Bytes
	return nil
}

// UUIDValue gives the database's uuid; the zero id is NULL.
func (k key[N]) UUIDValue() (pgtype.UUID, error) {
	return pgtype.UUID{Bytes: k.uuid, Valid: !k.IsZero()}, nil
}

func fresh[N noun]() key[N] { return key[N]{uuid: uuid.Must(uuid.NewV7())} }

func parsed[N noun](s string) (key[N], error) {
	var k key[N]
	return k, k.parse(s)
}

// Null gives the value stored for an id; the zero id is NULL.
func Null[T interface {
	UUID() uuid.UUID
	IsZero() bool
}](v T) *uuid.UUID {
	if v.IsZero() {
		return nil
	}
	u := v.UUID()
	return &u
}

// UUIDs gives the values stored for a list of ids, for `= ANY(…)`.
func UUIDs[T interface{ UUID() uuid.UUID }](ids []T) []uuid.UUID {
	list := make([]uuid.UUID, len(ids))
	for i, one := range ids {
		list[i] = one.UUID()
	}
	return list
}
