from swarm_bench.cli.terminal import printable


def test_an_error_names_no_login_and_drives_no_terminal() -> None:
    shown = printable("\x1b[31mhttps://me:pw@host/x is not there\n")
    assert shown == " [31mhttps://host/x is not there "
