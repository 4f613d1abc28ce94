/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels in Chinese, by the English ones that stand in the code; terms are those of sentences.def. What the database says in words
 * (evidence, advice, verdicts) stays as it is.
 */
const CHINESE = {
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
    'No leak.': '无泄漏。', 'Every request for memory was served.': '所有内存请求均成功。', 'No leak, no failure, no misuse, and nothing that health would warn of.': '无泄漏、无失败、无误用，健康检查无警告。',
    'No stack was recorded.': '没有记录调用栈。', 'This heap is no pool: pick one in the timeline.': '此堆不是内存池：请在时间线中选择。', 'Click a block: its stack and its life stand here.': '单击一个块：此处显示其调用栈与生命周期。', 'nothing here fits the search': '没有符合搜索的行', 'Nothing was live.': '没有存活内存。',
    'SQL': 'SQL', 'choose a question': '选择问题', 'queries': '查询', 'views': '视图', 'answer': '结果', 'run': '运行', 'stop': '停止', 'save as CSV': '保存为 CSV', 'copy as CSV': '复制为 CSV', 'copied': '已复制', 'the database is asked': '正在查询数据库',
    '{count} rows': '{count} 行', '{passing} of them fit the search': '其中 {passing} 行符合搜索', 'the first {shown} are shown, CSV has all': '显示前 {shown} 行，CSV 含全部', 'there are more: no more than these are read': '还有更多行：只读取这些',
    'the database is too large to be in this page: npumem report has --max-size': '数据库太大，不在本页中：npumem report 有 --max-size', 'the database in this page has all sums, and those single allocations that were live at a peak, a mark, a failure or the end': '本页中的数据库有全部汇总，以及在峰值、标记、失败或结束时存活的各次分配',
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

/* A sentence with values in it: sayWith('{count} blocks', {count: '7'}). Values are put in once, as they are. */
export function sayWith(text, values) {
    return say(text).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

export function hasChinese(text) {
    return Object.hasOwn(CHINESE, text);
}
