package record

import "github.com/jackc/pgx/v5/pgconn"

// Blamed are the exposed fields that PostgreSQL's refusal is about: the column it names, or those of the
// constraint it names. None where it names another table's.
func (e *Entity) Blamed(refused *pgconn.PgError) []string {
	if refused.SchemaName != e.relation.Schema || refused.TableName != e.relation.Name {
		return nil
	}
	columns := e.relation.constraints[refused.ConstraintName]
	if refused.ColumnName != "" {
		columns = []string{refused.ColumnName}
	}
	var fields []string
	for _, f := range e.Fields {
		for _, name := range columns {
			if f.column.name == name {
				fields = append(fields, f.Name)
			}
		}
	}
	return fields
}
