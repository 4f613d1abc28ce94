/* SPDX-License-Identifier: Apache-2.0
 *
 * Labels in Chinese, by the English ones that stand in the code. What the database says in words (evidence, advice) stays as it is.
 */
const CHINESE = {
    'Verdicts': '结论', 'Timeline': '时间线', 'Map': '地址图', 'What is live': '存活内容', 'Leaks': '泄漏', 'Fragmentation and pool': '碎片与内存池',
    'Out of memory': '内存不足', 'Ranks': '各 rank', 'Misuse': '误用', 'About this run': '关于本次运行', 'Numbers': '数据', 'search': '搜索',
    'site': '位置', 'live': '存活', 'size': '大小', 'share': '占比', 'verdict': '结论', 'count': '个数', 'per step': '每步', 'evidence': '依据',
    'whole run': '全程', 'peak': '峰值', 'end': '结束', 'category': '类别', 'module': '模块', 'stack': '调用栈', 'time': '时间', 'event': '事件',
    'reserved': '已保留', 'free': '空闲', 'stuck': '滞留', 'capacity': '容量', 'heap': '堆', 'by steps': '按步', 'moment': '时刻',
};

export function makeWords(language) {
    return (text) => (language === 'zh' && CHINESE[text]) || text;
}
