"""Texts as other tools write them: two looks at nodes, ten seconds apart."""

from __future__ import annotations

import json

#: When the first look was taken [s].
BEGIN = 1_764_028_800.0


def exporter(
    time: float,
    *,
    busy: float,
    idle: float,
    received: float = 0.0,
    boot: float = 1_764_000_000.0,
    more: str = "",
) -> str:
    """Write what node_exporter answers on a node with two cores; times are of each."""
    cores = "".join(
        f'node_cpu_seconds_total{{cpu="{core}",mode="{mode}"}} {value}\n'
        for core in (0, 1)
        for mode, value in (
            *(("idle", idle), ("iowait", 0), ("irq", 0), ("nice", 0), ("softirq", 0)),
            *(("steal", 0), ("system", 0), ("user", busy)),
        )
    )
    return (
        "# HELP go_info Information about the Go environment.\n"
        "# TYPE go_info gauge\n"
        'go_info{version="go1.19.8"} 1\n'
        f"node_boot_time_seconds {boot:e}\n"
        f"{cores}"
        "node_load1 0.5\n"
        "node_memory_MemAvailable_bytes 2.5e+10\n"
        f'node_network_receive_bytes_total{{device="eth0"}} {received:e}\n'
        f'node_network_receive_bytes_total{{device="lo"}} {received:e}\n'
        f"node_pressure_cpu_waiting_seconds_total {busy / 2}\n"
        f"node_time_seconds {time!r}\n"
        'node_uname_info{domainname="(none)",nodename="n1.site",sysname="Linux"} 1\n'
        f"{more}"
    )


#: Answers of an exporter, one after the other: a core and a half at work.
EXPORTER = exporter(BEGIN, busy=100, idle=900, received=1e6) + exporter(
    BEGIN + 10, busy=107.5, idle=902.5, received=3e6
)

#: store_csv of LDMS, as its documentation shows it: procstat of two nodes.
LDMS = (
    "#Time,Time_usec,ProducerName,component_id,job_id,app_id,user,nice,sys,idle,iowait,"
    "irq,softirq,steal,procs_running,per_core_user0\n"
    "1764028800.001798,1798,s0,1,0,0,1000,0,0,9000,0,0,0,0,4,1000\n"
    "1764028800.002100,2100,s1,2,0,0,1000,0,0,9000,0,0,0,0,1,1000\n"
    "1764028810.001798,1798,s0,1,0,0,2000,0,0,9000,0,0,0,0,4,2000\n"
    "1764028810.002100,2100,s1,2,0,0,1000,0,0,10000,0,0,0,0,1,1000\n"
)
LDMS_NETWORK = (
    "#Time,Time_usec,ProducerName,component_id,job_id,app_id,rx_bytes#lo,tx_bytes#lo,"
    "rx_bytes#eth0,tx_bytes#eth0\n"
    "1764028800.001798,1798,s0,1,0,0,5,5,1000,0\n"
    "1764028810.001798,1798,s0,1,0,0,5,5,3000,100\n"
)
LDMS_MEMORY = (
    "#Time,Time_usec,ProducerName,component_id,job_id,app_id,MemTotal,MemAvailable\n"
    "1764028800.001798,1798,s0,1,0,0,100,50\n"
)

#: What ``pmrep -o csv`` writes; the second look lacks a metric.
PCP = (
    'Time,"kernel.all.cpu.user","kernel.all.cpu.sys","kernel.all.cpu.idle",'
    '"network.interface.in.bytes-lo","network.interface.in.bytes-eth0","hinv.ncpu",'
    '"kernel.all.load-1 minute","mem.util.available","kernel.all.runnable",'
    '"kernel.uname.nodename"\n'
    '1764028800.500000,1000,0,2000,7,1000,2,0.500,1000,3,"n1"\n'
    '1764028810.500000,11000,10000,2000,7,3000,2,0.500,,5,"n1"\n'
)

#: ``sadf -d``: two reports and a restart.
SAR_TABLE = (
    "n1;-1;2025-11-25 00:00:00 UTC;LINUX-RESTART\t(2 CPU)\n"
    "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n"
    "n1;600;2025-11-25 00:10:00 UTC;-1;75.00;0.00;0.00;0.00;0.00;25.00\n"
    "n1;600;2025-11-25 00:20:00 UTC;-1;0.00;0.00;0.00;0.00;0.00;100.00\n"
    "# hostname;interval;timestamp;runq-sz;plist-sz;ldavg-1;ldavg-5;ldavg-15;blocked\n"
    "n1;600;2025-11-25 00:10:00 UTC;3;152;1.25;1.85;1.01;0\n"
    "# hostname;interval;timestamp;IFACE;rxpck/s;txpck/s;rxkB/s;txkB/s\n"
    "n1;600;2025-11-25 00:10:00 UTC;eth0;1.00;1.00;2.00;1.00\n"
)


def sar_json(*, utc: bool = True, zone: str = "CET") -> str:
    """Write what ``sadf -j`` does."""
    statistics = [
        {
            "timestamp": {
                **{"date": "2025-11-25", "time": "00:10:00"},
                **{"utc": int(utc), "interval": 600},
            },
            "cpu-load": [
                {"cpu": "all", "usr": 75.0, "iowait": 0.0, "steal": 0.0, "idle": 25.0}
            ],
            "queue": {"runq-sz": 3, "ldavg-1": 1.25},
            "memory": {"avail": 1000, "memfree": 1},
            "network": {"net-dev": [{"iface": "eth0", "rxkB": 2.0, "txkB": 1.0}]},
            "psi": {"psi-cpu": {"some_avg10": 0.1, "some_avg": 12.5}},
        },
        {"restarts": []},
    ]
    host = {"nodename": "n1", "number-of-cpus": 2, "timezone": zone}
    return json.dumps({"sysstat": {"hosts": [host | {"statistics": statistics}]}})


def range_json() -> str:
    """Write what Prometheus answers to a range query."""
    idle, user = (
        {
            "metric": {
                **{"__name__": "node_cpu_seconds_total", "cpu": "0", "mode": mode},
                **{"instance": "n1.site:9100", "job": "node"},
            },
            "values": values,
        }
        for mode, values in (
            ("idle", [[BEGIN, "900"], [BEGIN + 10, "905"]]),
            ("user", [[BEGIN, "100"], [BEGIN + 10, "105"]]),
        )
    )
    data = {"resultType": "matrix", "result": [idle, user]}
    return json.dumps({"status": "success", "data": data})


#: All texts by the kind of their source.
SAMPLES = {
    "exporter.prom": EXPORTER,
    "range.json": range_json(),
    "procstat.csv": LDMS,
    "procnetdev.csv": LDMS_NETWORK,
    "meminfo.csv": LDMS_MEMORY,
    "pmrep.csv": PCP,
    "sar.json": sar_json(),
    "sar.csv": SAR_TABLE,
}
