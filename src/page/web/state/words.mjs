/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels in Chinese, by the English ones that stand in the code; terms are those of sentences.def. What the database says in words
 * (evidence, advice, verdicts) stays as it is.
 */
const CHINESE = {
    'stream {n}': '流 {n}', 'pool {n}': '内存池 {n}', '{n} step': '{n} 步', '{n} to {m} steps': '{n} 至 {m} 步', '{n} steps or more': '{n} 步以上', 'below {n} events': '不足 {n} 个事件', '{n} to {m} events': '{n} 至 {m} 个事件', '{n} events or more': '{n} 个事件以上', 'device {n}': '设备 {n}', 'rank {n}': 'rank {n}',
    'within a step': '一步之内', '(no stack)': '（无调用栈）', '(baseline)': '（基线）', '(no module)': '（无模块）', '(no operation)': '（无操作）', 'unknown': '未知', 'stream not known': '流未知', 'no private pool': '无私有内存池',
    '1 process': '1 个进程', '{count} processes': '{count} 个进程', '{count} ranks': '{count} 个 rank', '{count} events': '{count} 个事件', 'killed by signal {signal}': '被信号 {signal} 终止', 'ended with status {status}': '以状态 {status} 结束', 'still running when the recording ended': '记录结束时仍在运行',
    'complete': '完整', 'complete, but it begins in the middle': '完整，但从中途开始', 'complete of what was kept': '所保留部分完整', 'CONTRADICTS ITSELF': '自相矛盾', 'CUT OFF before its end': '在结束前被截断', 'still recording: figures so far': '仍在记录：以下为截至目前的数字', 'its recorder was KILLED: figures so far': '记录器已被终止：以下为截至目前的数字', 'its end MISSING: cut off, or still recording elsewhere': '缺少结尾：已被截断，或仍在别处记录', 'its end MISSING: its rings belong to another user, whether it still runs cannot be seen': '缺少结尾：其环形缓冲区属于其他用户，无法得知是否仍在运行', 'not ended so far': '尚未结束', 'completeness not known': '完整性未知', '{count} events dropped': '丢弃 {count} 个事件', '{count} events damaged': '损坏 {count} 个事件',
    '{count} events unrecovered': '{count} 个事件未能恢复', '{count} events late': '{count} 个事件迟到', '{name} and {count} more': '{name} 等（另有 {count} 个）', 'labels in another language': '切换语言',
    'out of memory': '内存不足', 'misuse': '误用', ', +{bytes} a step': '，每步 +{bytes}', ', +{bytes} an hour': '，每小时 +{bytes}', '{count} blocks, {verdict}. {evidence}': '{count} 个块，{verdict}。{evidence}', '{bytes} could not be had': '无法获得 {bytes}', '{bytes} only after a retry': '重试后才获得 {bytes}', '{text}, at {time}': '{text}，于 {time}',
    '1 site cannot be judged or only may grow': '1 个位置无法判定或仅可能增长', '{count} sites cannot be judged or only may grow': '{count} 个位置无法判定或仅可能增长', ': no leak, and in no count.': '：不算泄漏，也不计数。', '{count} more measures: {fine} fine, {open} not judged': '另有 {count} 项指标：{fine} 项正常，{open} 项未判定',
    '{count} more: see the panels below.': '另有 {count} 项：见下方面板。', '{count} more sites: bounded, or not judged; no leak, and in no count': '另有 {count} 个位置：有界或未判定；不算泄漏，也不计数', '{count} more': '另有 {count} 行', '{heap} \u2013 highlighted on the map above': '{heap} \u2013 已在上方地址图中突出显示',
    '{count} more: view out_of_memory': '另有 {count} 次：见视图 out_of_memory', '{text} (thread {thread})': '{text}（线程 {thread}）', '{bytes} peak': '峰值 {bytes}', '{verdict}: {reason}': '{verdict}：{reason}',
    'growing': '增长', 'rising': '上升', 'unreleased': '未释放', 'bounded': '有界', 'not judged': '未判定', 'fatal': '致命', 'recovered': '已恢复', 'good': '良好', 'minor': '次要', 'allocation cost': '分配开销', 'pool hit rate': '内存池命中率', 'zero copy': '零拷贝',
    'small': '小', 'medium': '中', 'large': '大', 'cold': '首次', 'growth': '增长', 'not known': '未知', '{failure} at step {step}': '第 {step} 步{failure}', '{text}, first': '{text}，最先', '{text}, {time} later': '{text}，晚 {time}', 'signal': '信号', 'exit': '退出', 'running': '运行中', 'exec': 'exec', 'ranks of the job': '各 rank',
    '{role}: rank {rank}': '{role}：rank {rank}', 'live bytes of rank {rank} over its run': 'rank {rank} 运行过程中的存活字节', 'rank {rank}: {bytes}': 'rank {rank}：{bytes}',
    'Steps': '步对比', 'two steps laid over each other, and what differs': '叠加两步，并列出差异', 'step': '步', 'and step': '与步', 'at most': '最多', 'median and worst': '中位与最差', 'since the begin': '步内时间', 'difference': '差',
    'live at most in': '峰值存活', 'allocated in': '分配', 'in': '于', 'steps': '步', 'failed': '失败', 'What differs between the steps': '两步之间的差异', 'No two steps of this heap are known.': '此堆没有两个已知的步。',
    'What differs by site is not known here: not every single allocation is in this page.': '此页不含每次分配，无法按位置列出差异。',
    'allocated': '已分配', 'outside of pools': '池外', 'others and unexplained': '其他进程与未解释', 'together': '合计', 'capacity': '容量', 'estimate': '估计', 'certain': '是否确定',
    'What the device held at its moments': '设备在各时刻的构成', 'only the longest ranges are here': '仅含最长的区间', 'every event counts': '精确到每个事件', 'from buckets, whose maxima are exact for each heap': '由分桶绘制，各堆的最大值精确',
    'Verdicts': '结论', 'Timeline': '时间线', 'Map': '地址图', 'What is live': '存活内容', 'Leaks': '泄漏', 'Fragmentation and pool': '碎片与内存池', 'Out of memory': '内存不足', 'Ranks': '各 rank', 'Misuse': '误用',
    'drag to pick a range for all panels, click to pick the moment': '拖动选择所有面板的范围，单击选择时刻', 'address \u00d7 time; drag for a closer look, click a block for its stack': '地址 \u00d7 时间；拖动放大，单击块查看调用栈',
    'at the moment that is picked': '所选时刻', 'click a site: its stack, and what of the map is its': '单击位置：显示其调用栈及其在地址图中的块', 'click one: the panels above show its memory': '单击一行：上方面板显示其内存',
    'search (regular expression)': '搜索（正则表达式）', 'Numbers of the timeline': '时间线数据', 'Numbers of the picture': '图中数据', 'Largest blocks in view': '范围内最大的块',
    'a step': '每步', 'address': '地址', 'at': '时刻', 'blocks': '块数', 'born': '分配', 'cause of misses': '未命中原因', 'detail': '详情', 'device': '设备', 'end': '结束', 'event': '事件', 'evidence': '依据', 'freed': '释放',
    'heap': '堆', 'hit rate': '命中率', 'host': '主机', 'idle': '空闲率', 'leaked': '泄漏', 'live': '存活', 'live by step': '逐步存活', 'live then': '当时存活', 'moment': '时刻', 'most live': '最大存活', 'of the device': '占设备',
    'peak': '峰值', 'pid': '进程号', 'rank': 'rank', 'requests': '请求', 'reserved': '已保留', 'share': '占比', 'site': '位置', 'size': '大小', 'the block came from': '块来自', 'time': '时间', 'time in the driver': '驱动耗时',
    'verdict': '结论', 'what': '类型', 'where': '位置', 'why not': '未判定原因', 'category': '类别', 'module': '模块', 'stack': '调用栈', 'stream': '流', 'the peak': '峰值时', 'the end': '结束时',
    'count': '个数', 'free': '空闲', 'gaps': '空隙', 'in blocks': '块内', 'keeps from going back': '阻碍归还', 'largest free': '最大空闲', 'misses': '未命中', 'segments': '段', 'stuck': '滞留', 'with blocks of': '所用块',
    'across': '横轴', 'by': '分组', 'colour by': '颜色', 'whole run': '全程', 'whole picture': '全图', 'allocation': '分配编号', 'lived': '存活时长',
    'misses a step after warm-up': '预热后每步未命中', 'last step with a miss': '最后未命中的步', 'flushes': '清空缓存', 'calls of the driver': '驱动调用', 'time in them': '其耗时',
    'What keeps the pool from giving memory back': '阻碍内存池归还内存的位置', 'At its moments': '各时刻', 'Hit rate by size': '按大小的命中率', 'Why the pool had to grow': '内存池增长原因',
    'reserved: what the pool holds of the driver\u2019s memory': '已保留：内存池占用的驱动内存', 'free inside it': '其中空闲', 'stuck: free, in segments that hold something, so that emptying the cache does not give it back': '滞留：所在段仍有块，清空缓存也无法归还的空闲内存',
    'Who held it': '占用者', 'Who asked': '请求者', 'in the words of torch_npu': 'torch_npu 的原文', 'Where it was allocated': '分配位置', 'highlight its site': '突出其位置', 'let go': '取消',
    'No leak.': '无泄漏。', 'Every request for memory was served.': '所有内存请求均成功。', 'Nothing wrong was found.': '未发现问题。', 'Nothing wrong was found, but not all could be judged:': '未发现问题，但并非全部可以判定：',
    'No stack was recorded.': '没有记录调用栈。', 'This heap is no pool: pick one in the timeline.': '此堆不是内存池：请在时间线中选择。', 'Click a block: its stack and its life stand here.': '单击一个块：此处显示其调用栈与生命周期。', 'nothing here fits the search': '没有符合搜索的行', 'Nothing was live.': '没有存活内存。',
    'A': 'A', 'B': 'B', 'leak of {bytes}': '泄漏 {bytes}', 'misuse ({count})': '误用（{count}）', 'ended by itself': '自行结束', 'first to fail': '最先失败', 'highest peak': '峰值最高', 'median peak': '峰值中位', 'stands for': '代表', 'no fault': '无异常', 'danger': '危险', 'warning': '警告', 'failure': '失败',
    'live bytes of every rank over its run; the table below has the figures': '各 rank 运行过程中的存活字节；数据见下表', 'begin of each run': '各自运行开始', 'its end': '其结束', 'begin': '开始',
    'time since its start': '自各自开始的时间', 'wall clock': '实际时间', 'By the clocks of {count} hosts, as each had it: nobody has compared them.': '按 {count} 台主机各自的时钟：未经校对。',
    'Not judged, for their steps are not known: rank {ranks}.': '未判定（步未知）：rank {ranks}。', 'Not judged, for their times are not known: rank {ranks}.': '未判定（时间未知）：rank {ranks}。', 'Not judged, for their clocks are not known: rank {ranks}.': '未判定（时钟未知）：rank {ranks}。',
    'Against another run': '与另一次运行对比', 'A is this run; what npumem diff A B says, and both curves': 'A 为本次运行；npumem diff A B 的结果与两条曲线', 'live bytes of both runs': '两次运行的存活字节', 'NOT COMPLETE': '不完整',
    'live at the peaks of the heaps': '各堆峰值时存活', 'live at the end': '结束时存活', 'allocated per step': '每步分配', 'figure': '指标', 'level': '层级', 'change': '变化', 'fragmentation': '碎片率', 'allocation time': '分配耗时', 'copy time': '拷贝耗时',
    'The page opens where memory ran out: events {from} to {to}, {share} of the run.': '本页从内存耗尽之处打开：事件 {from} 至 {to}，占全程 {share}。', 'Events {from} to {to}: {share} of the run.': '事件 {from} 至 {to}：占全程 {share}。',
    'The other run has no heap like this one.': '另一次运行没有对应的堆。',
    'None of {all} blocks fitted into this page one by one (npumem report --max-size): the map is shares of what was in use.': '{all} 个块均未能逐个放入本页（npumem report --max-size）：地址图显示使用占比。',
    '{kept} of {all} blocks are in this page one by one (npumem report --max-size): each that lived within {reach} events of the peak, the end, a failure or a leak, as far as the buttons go. There the map and what was live are exact.': '{all} 个块中有 {kept} 个逐个存于本页（npumem report --max-size）：凡在峰值、结束、失败或泄漏前后 {reach} 个事件内存活的块，范围见按钮；其中地址图与存活内容是精确的。',
    'Shares of what was in use: outside of the ranges above not every block is in this page.': '显示使用占比：在上述范围之外，本页没有每一个块。',
    'Of many ranks this page has maps of the first that failed, of the highest peak and of the median alone: npumem report with the database of this rank shows its own.': '在众多 rank 中，本页只含最先失败、峰值最高与峰值中位者的地址图；对该 rank 的数据库运行 npumem report 可查看其地址图。',
    'Rows of single allocations are not in this database (npumem ingest --detail all), so there is no map of this heap.': '此数据库没有单次分配的行（npumem ingest --detail all），因此没有此堆的地址图。',
    'Left out, so that the page is no larger than was asked for:': '为不超过所要求的大小而略去：',
    'SQL': 'SQL', 'choose a question': '选择问题', 'queries': '查询', 'views': '视图', 'answer': '结果', 'run': '运行', 'stop': '停止', 'save as CSV': '保存为 CSV', 'copy as CSV': '复制为 CSV', 'copied': '已复制', 'the database is asked': '正在查询数据库',
    '{count} rows': '{count} 行', '{passing} of them fit the search': '其中 {passing} 行符合搜索', 'the first {shown} are shown, CSV has all': '显示前 {shown} 行，CSV 含全部', 'there are more: no more than these are read': '还有更多行：只读取这些',
    'the database is too large to be in this page: npumem report has --max-size': '数据库太大，不在本页中：npumem report 有 --max-size', 'the database in this page has all sums, and those single allocations that were live at a peak, a mark, a failure or the end': '本页中的数据库有全部汇总，以及在峰值、标记、失败或结束时存活的各次分配',
    'each is base.db for the other, which diff queries attach': '各为对方的 base.db，diff 查询会挂接它', 'the database of B is too large to be in this page beside that of A: npumem report has --max-size': 'B 的数据库太大，无法与 A 的一起放入本页：npumem report 有 --max-size',
    'The database is that of all {all} inputs; of {count} of them it has sums and no single allocation.': '数据库含全部 {all} 个输入；其中 {count} 个只有汇总，没有单次分配。', 'The database is that of all {all} inputs.': '数据库含全部 {all} 个输入。',
    'search in all panels: a regular expression': '在所有面板中搜索：正则表达式', '{text} is no regular expression: it is looked for as it stands.': '“{text}” 不是正则表达式：按原文搜索。', '{text} takes too long as a regular expression and was stopped: it is looked for as it stands.': '正则表达式 “{text}” 耗时过长，已停止：按原文搜索。', 'bytes': '字节', 'Sizes': '大小分布', 'Lifetimes': '存活时长分布', 'step': '步',
    'warm-up': '预热', 'measure': '指标', 'advice': '建议', 'before the first': '第一步之前', 'yes': '是', 'Hit rate by step': '逐步命中率', 'Other settings': '其他设置',
    'Which settings this run would have needed least with, this says:': '哪种设置下本次运行所需最少，可用此命令得知：', 'A page has the table of them by this, for one database:': '对单个数据库，用此命令可把设置对照表写入页面：',
    'The same requests with other settings': '同样的请求在其他设置下', 'as recorded: {setting}': '记录时的设置：{setting}', 'default': '默认', 'saved': '节省', 'smallest device': '最小设备', 'fits': '是否放得下', 'no, at the beginning': '否，一开始就放不下', 'no, at event {event}': '否，在事件 {event}',
    'Replayed on a simulated allocator (npumem whatif --compare); saved: less reserved than in the replay of the recorded settings.': '在模拟分配器上重放（npumem whatif --compare）；节省：比重放记录时的设置少保留的内存。',
    'Steps of the pool': '内存池各步数据', 'difference': '差值', 'leak': '泄漏', 'inferred': '推断',
    'Only the peak is known here, by site, file, category and module: not every single allocation is in this page.': '此处只知道峰值时按位置、文件、类别和模块的内容：本页没有每一次分配。',
    'What changed is not known here: not every single allocation is in this page.': '此处不知道变化：本页没有每一次分配。', 'What came: {amount}': '新增：{amount}', 'What went: {amount}': '释放：{amount}', 'what came, each part below what it is part of': '新增内容，各部分位于其所属部分之下', 'what went, each part below what it is part of': '释放内容，各部分位于其所属部分之下',
    'More in B, {level}: {amount}': 'B 中更多（{level}）：{amount}', 'Less in B, {level}: {amount}': 'B 中更少（{level}）：{amount}', '{bytes} at {count} sites': '{count} 个位置共 {bytes}', '{name}: {bytes}, {share}, {count} sites': '{name}：{bytes}，{share}，{count} 个位置', 'These are the {count} sites that changed most.': '以上为变化最大的 {count} 个位置。',
    'what B has more of, each part below what it is part of': 'B 中更多的内容，各部分位于其所属部分之下', 'what B has less of, each part below what it is part of': 'B 中更少的内容，各部分位于其所属部分之下',
    'compared with': '对比时刻', 'nothing': '不对比', 'this moment': '此刻', 'begin and end of the range': '范围的起止',
    'came': '新增', 'went': '释放', 'stayed': '保留', '{bytes} in {count} blocks': '{count} 个块共 {bytes}',
    'From {from} to {to}: {came} came, {went} went, {stayed} stayed; {net} in all.': '从{from}到{to}：新增 {came}，释放 {went}，保留 {stayed}；合计 {net}。', '{heap}, at {moment}': '{heap}，{moment}',
    'at the moment that is picked; compared with another: what came, went and stayed': '所选时刻；与另一时刻对比时：新增、释放与保留的内容', 'mark': '标记', 'failed allocation': '分配失败', 'peak of the device': '设备峰值',
    '{text}, event {event}': '{text}，事件 {event}', 'the peak ({bytes})': '峰值（{bytes}）', 'event {event}': '事件 {event}', 'step {step}': '第 {step} 步', 'failures and marks': '失败与标记', 'begin of step': '步的开始', 'file': '文件',
    'operation': '操作', 'private pool': '私有内存池', 'age': '存活步数', 'what is live': '存活内容', 'what came, went and stayed': '新增、释放与保留', '{low} to below {high}': '{low} 至不足 {high}', 'events from birth to end': '从分配到释放的事件数',
    'Never freed, and in none of these: {count} blocks of {bytes}.': '从未释放、不在其中：{count} 个块，共 {bytes}。', 'Sizes and lifetimes are counted where every single allocation is in this page.': '本页有每一次分配时才统计大小与存活时长分布。',
    'hit rate of {count} steps, from {first} to {last}': '{count} 步的命中率，从 {first} 到 {last}', '{label}; lowest after the warm-up: {rate} in step {step}': '{label}；预热后最低：第 {step} 步 {rate}', 'setting': '设置', 'version': '版本',
    'database': '数据库', 'versions and settings': '版本与设置', 'name': '名称', 'value': '值', 'processes': '进程数', '{name}: {bytes}, {share}, {count} blocks': '{name}：{bytes}，{share}，{count} 个块', 'all': '全部', 'what is live, each part below what it is part of': '存活内容，各部分位于其所属部分之下', 'asked for: {bytes}': '请求：{bytes}', 'given up, still used by another stream': '已释放，仍被其他流使用',
    'free inside the pools': '内存池内空闲', 'the rest of this process': '本进程其余', 'all else on the device': '设备上其他', 'free on the device': '设备空闲', 'not held by this process': '非本进程占用', 'when': '时间', 'requested': '请求', 'allocated': '已分配', 'active': '活动',
    'this process': '本进程', 'device used': '设备已用', 'capacity': '容量', 'when it failed': '失败时', 'before the first step': '第一步之前', 'at the end of step {step}': '第 {step} 步结束时', 'what held how much': '各部分占用', 'By component': '按组成',
    'One step earlier: active blocks and driver memory at the end of that step, reserved at most in it; steps do not tell how much of the active was given up, nor what else was on the device.': '早一步：活动块与驱动内存为该步结束时，已保留为该步内最大值；活动块中已释放的部分与设备上的其他占用不按步记录。',
};

const spoken = {language: 'en'};

/* Before the panels are made: they ask while they are made and shown. */
export function setLanguage(language) {
    spoken.language = language === 'zh' ? 'zh' : 'en';
}

/* A label in the language that was set; what has no translation is shown as it is. */
export function say(text) {
    return (spoken.language === 'zh' && CHINESE[text]) || text;
}

/* Of what the database says in both, the one in the language that was set. */
export function inLanguage(english, chinese) {
    return spoken.language === 'zh' ? chinese ?? english : english;
}

/* A sentence with values in it: sayWith('{count} blocks', {count: '7'}). Values are put in once, as they are. */
export function sayWith(text, values) {
    return say(text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/* Names that we give, with a number in them: of groups, ages and places. */
const NUMBERED = ['stream {n}', 'pool {n}', '{n} step', '{n} to {m} steps', '{n} steps or more', 'below {n} events', '{n} to {m} events', '{n} events or more', 'device {n}', 'rank {n}'];
const PATTERNS = NUMBERED.map((text) => ({text, pattern: new RegExp(`^${text.replace(/\{(\w+)\}/g, '(?<$1>\\d[\\d, ]*)')}$`)}));

/* A name that we gave: that of what has none, or one of NUMBERED. What others named stays as it is. */
export function sayName(name) {
    const found = spoken.language === 'en' || CHINESE[name] ? undefined : PATTERNS.find(({pattern}) => pattern.test(name));
    return found ? sayWith(found.text, name.match(found.pattern).groups) : say(name);
}

/* "device 0 \u00b7 caching pool": each part by itself. */
export function sayPlace(label) {
    return label.split(' \u00b7 ').map(sayName).join(' \u00b7 ');
}

export function hasChinese(text) {
    return Object.hasOwn(CHINESE, text);
}
