package postgres

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// plainUUIDs sends uuids as the 16 bytes that they are. By itself pgx asks them for their text, finds that it
// does not fit, makes an error that says so, and reads the text: of every one in a list.
func plainUUIDs(_ context.Context, conn *pgx.Conn) error {
	types := conn.TypeMap()
	types.TryWrapEncodePlanFuncs = append([]pgtype.TryWrapEncodePlanFunc{asBytes}, types.TryWrapEncodePlanFuncs...)
	return nil
}

func asBytes(value any) (pgtype.WrappedEncodePlanNextSetter, any, bool) {
	u, is := value.(uuid.UUID)
	return &uuidPlan{}, pgtype.UUID{Bytes: u, Valid: true}, is
}

type uuidPlan struct{ next pgtype.EncodePlan }

func (p *uuidPlan) SetNext(next pgtype.EncodePlan) { p.next = next }

func (p *uuidPlan) Encode(value any, b []byte) ([]byte, error) {
	u, _ := value.(uuid.UUID) // asBytes saw that it is
	return p.next.Encode(pgtype.UUID{Bytes: u, Valid: true}, b)
}
