"""The invariants of db-schema.md section 6 as SQL; each query returns the rows that break it."""

from __future__ import annotations

MSPROF = {
    "I03 interval ends before it starts": """
        SELECT 'TASK', startNs FROM TASK WHERE endNs < startNs
        UNION ALL SELECT 'CANN_API', startNs FROM CANN_API WHERE endNs < startNs
        UNION ALL SELECT 'COMMUNICATION_OP', startNs FROM COMMUNICATION_OP WHERE endNs < startNs
        UNION ALL SELECT 'MSTX_EVENTS', startNs FROM MSTX_EVENTS WHERE endNs < startNs
    """,
    "I04 outside the session": """
        WITH all_rows AS (
          SELECT startNs, endNs FROM TASK UNION ALL SELECT startNs, endNs FROM CANN_API
          UNION ALL SELECT startNs, endNs FROM COMMUNICATION_OP
          UNION ALL SELECT startNs, endNs FROM MSTX_EVENTS)
        SELECT all_rows.* FROM all_rows, SESSION_TIME_INFO
        WHERE startNs < startTimeNs OR endNs > endTimeNs
    """,
    "session bounds are not whole microseconds": """
        SELECT * FROM SESSION_TIME_INFO WHERE startTimeNs % 1000 OR endTimeNs % 1000
    """,
    "I06 globalTaskId repeats": """
        SELECT globalTaskId FROM TASK GROUP BY 1 HAVING count(*) > 1
    """,
    "I06 globalTaskId not dense": """
        SELECT 1 FROM TASK GROUP BY NULL
        HAVING min(globalTaskId) <> 0 OR max(globalTaskId) <> count(*) - 1
    """,
    "I07 task key repeats": """
        SELECT deviceId, streamId, taskId, contextId FROM TASK GROUP BY 1, 2, 3, 4
        HAVING count(*) > 1
    """,
    "TASK not in order of startNs": """
        SELECT a.rowid FROM TASK a JOIN TASK b ON b.rowid = a.rowid + 1 WHERE b.startNs < a.startNs
    """,
    "I10 task both computes and communicates": """
        SELECT globalTaskId FROM COMPUTE_TASK_INFO JOIN COMMUNICATION_TASK_INFO USING (globalTaskId)
    """,
    "I12 communication operator without tasks": """
        SELECT opId FROM COMMUNICATION_OP
        WHERE opId NOT IN (SELECT opId FROM COMMUNICATION_TASK_INFO)
    """,
    "I13 communication task of another name or group": """
        SELECT t.globalTaskId FROM COMMUNICATION_TASK_INFO t JOIN COMMUNICATION_OP o USING (opId)
        WHERE t.name <> o.opName OR t.groupName <> o.groupName
    """,
    "opId not dense": """
        SELECT 1 FROM COMMUNICATION_OP GROUP BY NULL HAVING max(opId) - min(opId) <> count(*) - 1
    """,
    "I15 counters of a task that does not compute": """
        SELECT globalTaskId FROM TASK_PMU_INFO
        WHERE globalTaskId NOT IN (SELECT globalTaskId FROM COMPUTE_TASK_INFO)
    """,
    "I16 metric twice or not 28 metrics": """
        SELECT globalTaskId FROM TASK_PMU_INFO GROUP BY 1
        HAVING count(*) <> 28 OR count(DISTINCT name) <> 28
    """,
    "I17 connection of a task leads nowhere": """
        SELECT connectionId FROM TASK WHERE connectionId NOT IN (4294967295, -1)
          AND connectionId NOT IN (SELECT connectionId FROM CANN_API)
          AND connectionId NOT IN (SELECT connectionId FROM MSTX_EVENTS) AND streamId <> 0
    """,
    "profiling tasks do not share the id after CANN's": """
        SELECT connectionId FROM TASK WHERE streamId = 0
          AND connectionId <> (SELECT max(connectionId) + 1 FROM CANN_API)
    """,
    "I19 communication operator without task of its connection": """
        SELECT opId FROM COMMUNICATION_OP WHERE connectionId NOT IN (SELECT connectionId FROM TASK)
    """,
    "I18 operator not launched by a node": """
        SELECT opId FROM COMMUNICATION_OP o LEFT JOIN CANN_API a USING (connectionId)
        WHERE a.type IS NOT 10000
    """,
    "CANN connections not dense in order of time": """
        SELECT a.connectionId FROM CANN_API a LEFT JOIN CANN_API b
          ON b.connectionId = a.connectionId + 1
        WHERE b.startNs < a.startNs
          OR (b.startNs IS NULL AND a.connectionId <> (SELECT max(connectionId) FROM CANN_API))
    """,
    "I21 task starts before its call": """
        SELECT t.globalTaskId FROM TASK t JOIN CANN_API a USING (connectionId)
        WHERE t.startNs < a.startNs
    """,
    "I26b tasks of a stream overlap": """
        SELECT a.globalTaskId, b.globalTaskId FROM TASK a JOIN TASK b
          ON a.deviceId = b.deviceId AND a.streamId = b.streamId AND a.rowid < b.rowid
        WHERE a.contextId = 4294967295 AND b.contextId = 4294967295 AND b.startNs < a.endNs
    """,
    "sub-task outside of its parent": """
        SELECT c.globalTaskId FROM TASK c LEFT JOIN TASK p
          ON p.deviceId = c.deviceId AND p.streamId = c.streamId AND p.taskId = c.taskId
            AND p.contextId = 4294967295
        WHERE c.contextId <> 4294967295
          AND (p.startNs IS NULL OR c.startNs < p.startNs OR c.endNs > p.endNs)
    """,
    "I36 process ids differ": """
        SELECT 1 FROM TASK, CANN_API WHERE globalPid <> globalTid >> 32
    """,
    "I35 text repeats within an id space": """
        SELECT value FROM STRING_IDS GROUP BY id >> 28, value HAVING count(*) > 1
    """,
    "4.6 id space with holes": """
        SELECT id >> 28 FROM STRING_IDS GROUP BY 1
        HAVING min(id) <> (id >> 28) << 28 OR max(id) - min(id) <> count(*) - 1
    """,
    "notify does not belong to the peer (record) or the own rank (wait)": """
        SELECT globalTaskId FROM COMMUNICATION_TASK_INFO JOIN STRING_IDS ON id = taskType
        WHERE (value = 'Notify_Record' AND notifyId >> 32 <> dstRank)
           OR (value = 'Notify_Wait' AND notifyId >> 32 <> srcRank)
    """,
    "device mark without device task": """
        SELECT connectionId FROM MSTX_EVENTS WHERE connectionId > 4000000000
          AND connectionId NOT IN (SELECT connectionId FROM TASK)
    """,
    "host mark has a device task": """
        SELECT globalTaskId FROM TASK WHERE connectionId = 4000000000
    """,
    "NPU_OP_MEM allocated beyond reserved": """
        SELECT rowid FROM NPU_OP_MEM WHERE totalAllocate > totalReserve OR size <= 0
    """,
}

OPERATOR_SPAN = """
    SELECT o.opId, o.startNs, o.endNs, min(t.startNs), max(t.endNs)
    FROM COMMUNICATION_OP o JOIN COMMUNICATION_TASK_INFO c USING (opId)
    JOIN TASK t USING (globalTaskId) {masters} GROUP BY o.opId
    HAVING o.startNs <> min(t.startNs) OR o.endNs <> max(t.endNs)
"""
ALL_TASKS_BOUND = {"I14 operator does not span its tasks": OPERATOR_SPAN.format(masters="")}
MASTERS_BOUND = {
    "I14 operator does not span its master tasks": OPERATOR_SPAN.format(
        masters="WHERE isMaster = 1"
    )
}

PYTORCH = {
    "I03 call ends before it starts": """
        SELECT startNs FROM PYTORCH_API WHERE CAST(endNs AS INTEGER) < CAST(startNs AS INTEGER)
    """,
    "I23 connection that no call has": """
        SELECT id FROM CONNECTION_IDS WHERE id NOT IN
          (SELECT connectionId FROM PYTORCH_API WHERE connectionId IS NOT NULL)
    """,
    "two calls share a connection key": """
        SELECT connectionId FROM PYTORCH_API WHERE connectionId IS NOT NULL
        GROUP BY 1 HAVING count(*) > 1
    """,
    "link of one end only": """
        SELECT connectionId FROM CONNECTION_IDS
        WHERE connectionId NOT IN (SELECT connectionId FROM CANN_API)
        GROUP BY 1 HAVING count(*) <> 2
    """,
    "I25 depth of a call chain not 0..n-1": """
        SELECT id FROM PYTORCH_CALLCHAINS GROUP BY 1
        HAVING min(stackDepth) <> 0 OR max(stackDepth) <> count(*) - 1
          OR count(DISTINCT stackDepth) <> count(*)
    """,
    "STEP_TIME differs from ProfilerStep": """
        SELECT s.id FROM STEP_TIME s WHERE NOT EXISTS (
          SELECT 1 FROM PYTORCH_API p JOIN STRING_IDS t ON t.id = p.name
          WHERE t.value = 'ProfilerStep#' || s.id AND CAST(p.startNs AS INTEGER) = s.startNs
            AND CAST(p.endNs AS INTEGER) = s.endNs)
    """,
    "I37 task outside of the steps": """
        SELECT globalTaskId FROM TASK t WHERE streamId <> 0 AND NOT EXISTS (
          SELECT 1 FROM STEP_TIME s WHERE t.startNs >= s.startNs AND t.endNs <= s.endNs)
    """,
    "I38 call outside of the steps": """
        SELECT startNs FROM PYTORCH_API p WHERE NOT EXISTS (SELECT 1 FROM STEP_TIME s
          WHERE CAST(p.startNs AS INTEGER) >= s.startNs AND CAST(p.endNs AS INTEGER) <= s.endNs)
    """,
    # The profiler waits for the device when the last step has ended, in all real files.
    "I39 CANN call outside of the steps": """
        SELECT connectionId FROM CANN_API c WHERE NOT EXISTS (
          SELECT 1 FROM STEP_TIME s WHERE c.startNs >= s.startNs AND c.endNs <= s.endNs)
          AND name NOT IN (SELECT id FROM STRING_IDS WHERE value = 'aclrtSynchronizeDevice')
    """,
    "calls of a thread cross": """
        SELECT a.startNs, b.startNs FROM PYTORCH_API a JOIN PYTORCH_API b
          ON a.globalTid = b.globalTid AND a.rowid <> b.rowid
        WHERE CAST(a.startNs AS INTEGER) < CAST(b.startNs AS INTEGER)
          AND CAST(b.startNs AS INTEGER) < CAST(a.endNs AS INTEGER)
          AND CAST(a.endNs AS INTEGER) < CAST(b.endNs AS INTEGER)
    """,
    "I29 duration": """
        SELECT rowid FROM OP_MEMORY WHERE duration IS NOT releaseTime - allocationTime
    """,
    "I30 active duration": """
        SELECT rowid FROM OP_MEMORY WHERE activeDuration IS NOT activeReleaseTime - allocationTime
    """,
    "I31 allocated beyond reserved": """
        SELECT rowid FROM OP_MEMORY WHERE allocationTotalAllocated > allocationTotalReserved
          OR releaseTotalAllocated > releaseTotalReserved
    """,
    "I33 allocated or active beyond reserved": """
        SELECT rowid FROM MEMORY_RECORD
        WHERE totalAllocated > totalReserved OR totalActive > totalReserved
    """,
    "MEMORY_RECORD not in order of time": """
        SELECT a.rowid FROM MEMORY_RECORD a JOIN MEMORY_RECORD b ON b.rowid = a.rowid + 1
        WHERE b.timestamp < a.timestamp
    """,
    "streamPtr is NULL exactly for GE": """
        SELECT m.rowid FROM MEMORY_RECORD m JOIN STRING_IDS s ON s.id = m.component
        WHERE (streamPtr IS NULL) <> (value = 'GE')
    """,
    "queue and trace rows carry operator attributes": """
        SELECT startNs FROM PYTORCH_API WHERE (type IN (50002, 50003)) <> (sequenceNumber IS NULL)
    """,
    "dtypes and shapes swapped (E23)": """
        SELECT s.value FROM PYTORCH_API JOIN STRING_IDS s ON s.id = inputDtypes
        WHERE substr(s.value, 1, 1) BETWEEN '0' AND '9'
    """,
}

RANKS = {
    "I28 device without rank": """
        SELECT deviceId FROM TASK WHERE deviceId NOT IN (SELECT deviceId FROM RANK_DEVICE_MAP)
    """,
}
"""Of databases with ranks: those of torch_npu, and of msprof since 2025-12-25 (5.3)."""
