sed -i 's/Foresight, Trouble/Foresight, WarningRaised/; s/emit(Trouble(/emit(WarningRaised(/' tests/e2e/test_terminal.py
sed -i 's/import guarded/import run_guard/; s/with guarded(/with run_guard(/' tests/runtime/processes/test_launching.py
sed -i 's/FAMILY\.planted("mine")/FAMILY.hold_tree("mine")/' tests/runtime/processes/test_trees.py
sed -i 's/content import walked/content import select_folder/; s/found = walked(Path(sys.argv\[1\]), (), named=False)/found = select_folder(Path(sys.argv[1]), (), is_named=False)/' tests/runtime/workspaces/test_content.py
sed -i 's/setattr(cases, "locked"/setattr(cases, "hold_lock"/' tests/app/test_cases.py
S=swarm_bench
sed -i 's/`most`/`limit`/' $S/agents/command/locators.py
sed -i 's/no calls are `shown`/there are no events (`has_events`)/' $S/agents/reading/call_arguments.py
sed -i 's/had not `answered` any request/had answered no request (`has_answered`)/; s/`began` tells/`has_events` tells/' $S/agents/reading/endings.py
sed -i 's/`result_text`/`read_result`/' $S/agents/reading/tool_answers.py $S/agents/reading/tool_costs.py
sed -i 's/of `taken`/of `other_keys`/; s/^    `taken`/    `other_keys`/' $S/core/session/scores.py
sed -i 's/`others` are problems/`other_problems` are those/' $S/core/validation.py
sed -i 's/of the same `of` left/of the same `owner` left/; s/for the same `of`,/for the same `owner`,/; s/has of its `own`, which win/has itself, which win/' $S/runtime/homes.py
sed -i 's/`before` bytes/`prefix` bytes/; s/`before` others/`prefix` others/' $S/runtime/redaction/encodings.py
sed -i 's/`opened`/`open_untrusted`/' $S/runtime/untrusted.py .ci/opening.py
sed -i 's/unless the user `named` the folder/unless the user named the folder/; s/bare repository `own`, which is ours/repository `bare`, which is ours/' $S/runtime/workspaces/content.py
sed -i 's/`most` bytes/`max_bytes`/' $S/runtime/workspaces/objects.py
sed -i "s/\`what\` is one of them/\`noun\` is one of them/" $S/runtime/workspaces/omissions.py
sed -i "s/the session's \`own\` copy/the copy of the session/" $S/runtime/workspaces/snapshots.py
sed -i 's/hashes `withheld`/hashes `excluded`/; s/the user `named` it/the user named it/' $S/runtime/workspaces/workspace.py
sed -i 's/`inventory`/`take_inventory`/' $S/runtime/workspaces/inventory.py
