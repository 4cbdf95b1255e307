import pathlib,sys
T='''
agents/codex/log.py|Of the text that the model got.|Tokens of the text that the model got.
agents/codex/log.py|Of every answered request, those of|Tokens of every answered request, those of
agents/codex/log.py|As they were configured.|Names of the configured servers.
agents/codex/log.py|By the id that the model gave the call; the events have others.|Uses of tools by the id that the model gave the call; the events have others.
agents/command/figures.py|Of a unit that nobody knows here.|The first character of an unknown unit.
agents/command/output.py|Before the path of a file that the program writes, as a source.|Prefix of a source that is a file; the path of what the program writes follows.
agents/gemini/causes.py|Of the program itself, in its|Messages of the program itself, in its
agents/opencode/settings.py|For a server to connect and to list its tools.|Time for a server to connect and to list its tools.
agents/opencode/stream.py|Of the last step; `None` while|Why the last step ended; `None` while
agents/opencode/stream.py|Of the last step, unless it called tools.|Texts of the last step, unless it called tools.
agents/opencode/stream.py|By the index of the call among the calls.|Times of calls, by the index of the call.
agents/reading/call_marks.py|Of the places between|Share of the places between
agents/reading/retrieved.py|Of a call's arguments and result that are looked at.|Characters of a call's arguments and result that are examined.
agents/reading/retrieved.py|Of the requests of the main conversation.|Tokens of the requests of the main conversation.
agents/reading/saved_chats.py|Of all conversations together.|Limit for all conversations together.
agents/replay/recording.py|Of a file that is read as a whole.|Largest file that is read as a whole.
agents/stream_json/failures.py|Of standard error.|Lines of standard error that are examined.
agents/stream_json/result_event.py|Of the main conversation.|Tokens of the main conversation.
agents/stream_json/result_event.py|With sub-agents and compactions.|Tokens with those of sub-agents and compactions.
agents/stream_json/transcript.py|Of a message that is an error, whatever its name is.|Keys that mark a message as an error.
agents/stream_json/transcript.py|Of the main conversation, by id; their output is a placeholder.|Requests of the main conversation, by id; their output is a placeholder.
agents/stream_json/transcript.py|From a call to its first result, by call id, where both have a time.|Time from a call to its first result, by call id, where both have one.
agents/stream_json/transcript.py|Of a call's last result; `None` when|Tokens of a call's last result; `None` when
core/events.py|In how many groups they run, each of which is set up; by arm.|Number of groups, each of which is set up, by arm.
core/events.py|By mode, whether its verdict does.|Whether the verdict stands, by mode.
core/figures.py|Of the numbers that are stored: whatever|Limit of the numbers that are stored: whatever
core/refusals/refusal.py|Of HTTP, or what stands for it within an answer; `None` where nothing does.|Status of HTTP, or its equivalent within an answer; `None` where there is none.
core/report/calibration.py|Of the differences of single tasks, the largest on either side; of ratios above 1.|The largest difference of a single task on either side; as a ratio above 1.
core/report/details.py|Of the test that flips the signs of the differences.|p of the test that flips the signs of the differences.
core/report/details.py|Of the share: Wilson's.|Wilson's interval of the share.
core/report/details.py|Of McNemar's test against the reference, the mid-p; `None` for the reference.|Mid-p of McNemar's test against the reference; `None` for the reference.
core/report/diff.py|Of the test that flips signs.|p of the test that flips signs.
core/report/diff.py|Without caveats.|The answer without caveats.
core/report/diff.py|By session, A or B, what must be known beside its figures.|Caveats of the figures, by session (A or B).
core/report/document.py|Of the claim.|Tone of the claim.
core/report/document.py|For those who do not see it.|Text for those who do not see the picture.
core/report/gate.py|Of 95 %, over tasks.|Interval of 95 % over tasks.
core/report/gate.py|That it is over.|Number of cases that it is over.
core/report/judging.py|Of the ties: both answers are the same text, so that nobody was asked.|Ties because both answers are the same text, so that nobody was asked.
core/report/judging.py|Of those with two verdicts that were asked for: both orders led to the same one.|Pairs whose two orders led to the same verdict.
core/report/judging.py|Of the verdicts that say so, like the two below.|Tokens of the verdicts that state them, as in the two fields below.
core/report/plan.py|In the order they run.|Trials in the order in which they run.
core/report/ratios.py|Of 95 %, over tasks; `None` for a single task.|Interval of 95 % over tasks; `None` for a single task.
core/report/ratios.py|By column; `None` when no task has the figure on both sides.|Ratios by column; `None` when no task has the figure on both sides.
core/report/ratios.py|By column; `None` for a mode without a tool.|Indexing by column; `None` for a mode without a tool.
core/report/ratios.py|Of the primary metric.|Margin of the primary metric.
core/report/ratios.py|Before its agents started, a first call (`warm_up`) included: in nobody's time.|Seconds before its agents started, a first call (`warm_up`) included.
core/report/report.py|By mode, in the order of the report; `None`|Figures by mode, in the order of the report; `None`
core/report/report.py|By column; `None` where the metric does not apply.|Figures by column; `None` where the metric does not apply.
core/report/report.py|By mode: the mean over tasks.|The mean over tasks, by mode.
core/report/report.py|By mode; `None` for the reference, and where no task has both.|Differences by mode; `None` for the reference, and where no task has both.
core/report/report.py|By mode, as the right answers are.|Recall by mode, in the order of the right answers.
core/report/report.py|By mode; one that has no tool and no fault is not in it.|Status by mode, without those that have no tool and no fault.
core/report/report.py|Without the modes that have no verdict; `None` when there is nothing to compare.|Ratios of the modes with a verdict; `None` when there is nothing to compare.
core/report/report.py|By mode; none without answer keys.|Rows by mode; none without answer keys.
core/report/report.py|That count.|Number of trials that count.
core/report/report.py|By which a request is larger than one of the reference.|Tokens by which a request is larger than one of the reference.
core/report/report.py|In which form they were asked, where there are several.|The form in which they were asked, if there are several.
core/report/report.py|By mode with a tool; `None` in a session that is no rehearsal.|Figures of each mode with a tool; `None` in a session that is no rehearsal.
core/report/report.py|By run, mode and agent; of a trial|Trials by run, mode and agent; of a trial
core/report/series.py|By size.|Cells by size.
core/report/series.py|Of which there is no verdict on the mode.|Sizes without a verdict on the mode.
core/report/trials_table.py|As it is stored; `None`|The experiment as it is stored; `None`
core/report/trials_table.py|By arm, what must be known before its figures are believed.|Caveats by arm, to be known before its figures are believed.
core/session/base.py|Of the id of a session.|Pattern of the id of a session.
core/session/base.py|That its cases are asked on; `None`|Commit that its cases are asked on; `None`
core/session/beforehand.py|Of all other keys, as JSON with|Checksum of all other keys, as JSON with
core/session/cases.py|Of an arm or a case: it is shown in one line.|Pattern of the name of an arm or a case: it is shown in one line.
core/session/cases.py|Of the data, to which it belongs; in older|Part of the data to which it belongs; in older
core/session/cases.py|As `module:Class`, where that was typed: no|Its class as `module:Class`, where that was typed: no
core/session/cases.py|Of the case, from 1.|Number of the case, from 1.
core/session/cases.py|By the key of a score, why it could not be computed.|Why a score could not be computed, by its key.
core/session/cases.py|By the name of a scorer, why its scores are missing.|Why the scores of a scorer are missing, by its name.
core/session/designs.py|Of its summary.|Title of its summary.
core/session/designs.py|By how much recall may be lower than the reference's where nobody says.|Default of how much recall may be lower than the reference's.
core/session/later/verdicts.py|Of its server, without logins and keys.|Address of its server, without logins and keys.
core/session/later/verdicts.py|Without those that were read from a cache.|Tokens without those that were read from a cache.
core/session/looks.py|By mode, of those that are compared.|Verdicts by mode, of those that are compared.
core/session/models.py|As it was written after `--models`, or `--judge`.|The model's word, as written after `--models` or `--judge`.
core/session/models.py|As it was written after `--models`.|The model's word, as written after `--models`.
core/session/models.py|Of a data set that comes with swarm-bench, or the path.|Name of a data set that comes with swarm-bench, or the path.
core/session/models.py|In the order of the arms.|Models in the order of the arms.
core/session/models.py|By the word of a model, who answers.|Programs that answer, by the word of the model.
core/session/models.py|As it was written after `--judge`.|The judge's word, as written after `--judge`.
core/session/models.py|Of an agent program in a request; `None`|Limit of an agent program in a request; `None`
core/session/models.py|As the provider names it.|Model as the provider names it.
core/session/models.py|Of an agent program, as it counts them.|Turns of an agent program, as it counts them.
core/session/models.py|Of the data set, to which the case belongs.|Part of the data set to which the case belongs.
core/session/models.py|Of the line of `prompts.jsonl` that has the request.|Checksum of the line of `prompts.jsonl` that has the request.
core/session/prices.py|Of tokens, each with a price of its own.|Kinds of tokens, each with a price of its own.
core/session/prices.py|By the id of the model.|Prices by the id of the model.
core/session/recording.py|Of the prompt that the agent was given, in UTF-8.|Checksum of the prompt that the agent was given, in UTF-8.
core/session/recording.py|As the program said it when it was asked, before the session.|Version that the program stated before the session.
core/session/recording.py|As the process ended; `None` when nobody saw it end.|Return code of the process; `None` when nobody saw it end.
core/session/recording.py|As the record has it.|Exit code in the record.
core/session/recording.py|Of its streams, by the ends of their names.|Sizes in bytes of its streams, by the ends of their names.
core/session/recording.py|By the id of the trial.|Trials by their ids.
core/session/records.py|Of them, the descriptions of all tools.|Tokens of the descriptions of all tools among them.
core/session/records.py|Of them, those of the mode's MCP servers.|Tokens of the mode's MCP servers among them.
core/session/records.py|By the key of a score, why it could not be computed.|Why a score could not be computed, by its key.
core/session/records.py|By the name of a scorer, why its scores are missing.|Why the scores of a scorer are missing, by its name.
core/session/records.py|From starting the services until they answered.|Time from starting the services until they answered.
core/session/retrieving.py|In which the question of a task can be put, in this order.|Forms of the question of a task, in this order.
core/session/retrieving.py|By its schema, since the mode file does not say.|Whether its schema tells it, since the mode file does not.
core/session/retrieving.py|By mode, as its servers have answered.|Search tools by mode, as its servers have answered.
core/session/scores.py|Of one scorer.|Limit of the keys of one scorer.
core/session/tasks.py|Between the path and the name of a symbol of an answer key.|Separator of path and name in a symbol of an answer key.
core/session/tasks.py|With the marks that make another word: C, C++ and C#.|A word with the marks that make another one: C, C++ and C#.
core/session/tasks.py|Within bounds in which means can be computed.|A weight within the bounds in which means can be computed.
core/session/tasks.py|Of the task in means over tasks.|Weight of the task in means over tasks.
runtime/homes.py|In the home, or in a folder of its own|The folder in the home, or one of its own
runtime/mcp/bodies.py|That a stream of events ended before the answer was in it.|A stream of events ended before the answer was in it.
runtime/mcp/bodies.py|That are in nothing that is quoted; `None` for whoever knows none.|Secrets to remove from what is quoted; `None` if none are known.
runtime/mcp/client.py|That a server has no session any more|A server has no session any more
runtime/mcp/client.py|That a call was not answered in time.|A call was not answered in time.
runtime/mcp/client.py|From its start until its tools were listed.|Time from its start until its tools were listed.
runtime/mcp/lines.py|Of it.|Number of its lines.
runtime/mcp/results.py|Of its blocks, and of its structured content.|Texts of its blocks, and of its structured content.
runtime/mcp/stdio.py|For what is quoted of it; `None` for whoever knows none.|Secrets to remove from what is quoted; `None` if none are known.
runtime/process.py|From its start to its own end|Time from its start to its own end
runtime/processes/launching.py|Of util-linux. It has the kernel|A program of util-linux. It has the kernel
runtime/processes/procfs.py|Of the clock in which the kernel gives times, in a second.|Ticks per second of the clock in which the kernel gives times.
runtime/processes/trees.py|By the identity of a process: it may|Trees by the identity of a process: it may
runtime/redaction/encodings.py|As it is, in JSON, and in a text within a text.|Line breaks as they are, in JSON, and in a text within a text.
runtime/workspaces/content.py|Of a folder that is not a checkout: whoever|Limit of a folder that is not a checkout: whoever
runtime/workspaces/history.py|That in the commit; `None` for one that was removed.|Git's hash of its content in the commit; `None` for one that was removed.
runtime/workspaces/history.py|Of files; empty for a merge.|Changes of files; empty for a merge.
runtime/workspaces/inventory.py|By path below the folder, with `/`.|Entries by path below the folder, with `/`.
runtime/workspaces/objects.py|Of an attribute, as git writes them.|Values of an attribute, as git writes them.
runtime/workspaces/objects.py|By path.|Blobs by path.
runtime/workspaces/stores.py|Of files that hold history, or lead git to it.|Names of files that hold history, or lead git to it.
runtime/workspaces/stores.py|Of files of Fossil, a database that|Beginnings of files of Fossil, a database that
'''
n=0
for l in T.strip().split('\n'):
    f,a,b=l.split('|'); p=pathlib.Path('swarm_bench')/f; t=p.read_text()
    if '"""'+a in t: p.write_text(t.replace('"""'+a,'"""'+b)); n+=1
    else: print('missing',f,a)
print(n)
