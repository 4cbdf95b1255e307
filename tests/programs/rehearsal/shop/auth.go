package shop

// AuthError says why somebody may not come in.
type AuthError struct {
	Reason string
}

func Authenticate(header string) (*Token, error) {
	token := ReadToken(header)
	if token == nil {
		return nil, &AuthError{Reason: "no token"}
	}
	return token, nil
}

func Authorize(token *Token, action string) bool {
	return token.Permissions[action]
}
