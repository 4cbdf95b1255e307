export function checkLogin(header) {
  return fetch("/login", { headers: { AUTH: header } });
}
