"""What was seen, printed and held against limits.py."""

import clients_slow
import crew
import limits
import watch

MIB = 1 << 20
SOCKETS_MORE = 5
THREADS_MORE = 2
OTHERS_MORE = 40  # and a descriptor for each file of chunks, which are more than before


def memory(run, watched, highest, cpu):
    allowed = limits.MemorySum(run.settings, telnet_connections=40)
    print("memory that the settings allow:")
    for line in allowed.lines():
        print(f"  {line}")
    most = MIB if run.options.canary == "memory" else allowed.total
    print(f"resident at most: {highest / MIB:.0f} MiB; sockets at most: {watched.connections}; "
          f"the server's processor: {cpu:.2f} cores", flush=True)
    print("resident at most, MiB, by the minute: "
          + " ".join(f"{resident / MIB:.0f}" for resident in watched.minutes), flush=True)
    if highest > most and (run.options.canary == "memory" or not run.options.unhurried):
        run.complain(f"memory: {highest / MIB:.0f} MiB resident, more than {most / MIB:.0f} MiB")


def latencies(run, phases):
    """One line a client and phase; complaints of what was slow or came not at all."""
    print(f"{'good client':14}{'phase':8}{'answers':>9}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}"
          f"{'longest without, s':>20}")
    for client, (p99_s, gap_s) in limits.GOOD.items():
        for phase, result in phases.items():
            took = result["latencies"].get(client, [])
            gap = result["gaps"].get(client, 0)
            print(f"{client:14}{phase:8}{len(took):>9}"
                  + "".join(f"{1000 * crew.percentile(took, share):>9.1f}"
                            for share in (0.5, 0.99, 1)) + f"{gap:>20.2f}")
            if not took:
                run.complain(f"{client}, {phase}: no answer at all")
            elif not run.options.unhurried:
                if crew.percentile(took, 0.99) > p99_s:
                    run.complain(f"{client}, {phase}: p99 {crew.percentile(took, 0.99):.2f} s, "
                                 f"more than {p99_s} s")
                if gap > gap_s:
                    run.complain(f"{client}, {phase}: {gap:.1f} s without what it asked for, more "
                                 f"than {gap_s} s")


def outcomes(run, seen):
    """A line a client; a complaint for each end that it must not have."""
    clients = {}
    for (client, outcome), count in sorted(seen.outcomes.items()):
        clients.setdefault(client, {})[outcome] = count
    print("how exchanges ended:")
    for client, ends in clients.items():
        print(f"  {client:30}" + ", ".join(f"{outcome}: {n}" for outcome, n in ends.items()))
        for outcome, count in ends.items():
            # Answers are small then, and the buffers between the two hold one.
            whole_unread = run.options.unhurried and outcome == clients_slow.WHOLE
            if outcome not in limits.ALLOWED[client] and not whole_unread:
                run.complain(f"{client}: {outcome}, {count} times")
    for name in sorted(limits.ALLOWED.keys() - clients.keys()):
        run.complain(f"{name}: nothing was seen of it")
    for name, figure in seen.figures.items():
        print(f"  {name}: {figure}")


def counters(run, seen, before, after):
    print(f"{'refusals':24}{'clients saw':>14}{'/metrics counts':>18}")
    for what, clients, counted, fits in watch.compare(
            seen, before["counters"], after["counters"], accepts_late=run.options.unhurried):
        print(f"{what:24}{clients:>14}{counted:>18}")
        if not fits:
            run.complain(f"counters: {what}: clients saw {clients}, /metrics counts {counted}")


def left_behind(before, after):
    complaints = []
    files = "halite_engine_chunk_files"
    new_files = max(int(after["counters"][files] - before["counters"][files]), 0)
    for name, more in (("sockets", SOCKETS_MORE), ("others", OTHERS_MORE + new_files)):
        if after[name] > before[name] + more:
            complaints.append(f"descriptors ({name}): {before[name]} before, {after[name]} after, "
                              f"{new_files} more files of chunks")
    threads = before["status"]["Threads"], after["status"]["Threads"]
    if threads[1] > threads[0] + THREADS_MORE:
        complaints.append(f"threads: {threads[0]} before, {threads[1]} after")
    return complaints
