package shop

type Token struct {
	Permissions map[string]bool
}

// Author: nobody
func ReadToken(header string) *Token {
	if len(header) < 7 {
		return nil
	}
	return &Token{}
}

