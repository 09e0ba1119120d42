#!/usr/bin/env bash
# A real SLURM of one node on loopback, to try the cluster executor with. It needs root and the packages
# slurm-wlm and munge. Everything it writes lies in one folder, but for a link /etc/slurm/slurm.conf to it,
# because jobs look there; where there is such a file already, it is another SLURM's, and this stops.
#
#     tools/slurm_up.sh FOLDER         start
#     tools/slurm_up.sh FOLDER down    stop
set -euo pipefail

folder=$(realpath -m "${1:?say in which folder}")
conf=/etc/slurm/slurm.conf

if [ "${2:-up}" = down ]; then
    for name in slurmctld slurmd munged; do
        [ ! -s "$folder/$name.pid" ] || kill "$(cat "$folder/$name.pid")" 2>/dev/null || true
    done
    [ "$(readlink "$conf")" != "$folder/slurm.conf" ] || rm "$conf"
    exit
fi
[ ! -e "$conf" ] || { echo "there is another SLURM: $conf" >&2; exit 1; }

mkdir -p "$folder"/{state,spool}
chmod 755 "$folder"
[ -s "$folder/munge.key" ] || head -c 1024 /dev/urandom > "$folder/munge.key"
chmod 400 "$folder/munge.key"
# --force: it would rather not run as root, nor in a folder that others may enter.
munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --seed-file="$folder/munge.seed" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" 2>> "$folder/munged.log"

node=$(hostname)
cat > "$folder/slurm.conf" <<END
ClusterName=loopback
SlurmctldHost=$node(127.0.0.1)
NodeName=$node NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(awk '/MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
# No control groups, no accounting: neither is to be had in a container.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=200000
MpiDefault=none
ReturnToService=2
END
mkdir -p "${conf%/*}"
ln -sf "$folder/slurm.conf" "$conf"
slurmctld
slurmd
for _ in $(seq 60); do
    if sinfo --noheader --format=%T 2>/dev/null | grep -q idle; then
        exit
    fi
    sleep 0.5
done
echo "no idle node after 30 s; see $folder/slurmctld.log and $folder/slurmd.log" >&2
exit 1
