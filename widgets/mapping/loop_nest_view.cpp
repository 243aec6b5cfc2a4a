#include "widgets/mapping/loop_nest_view.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/mapping/loop_nest_paint.h"

#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace orrery::ui {

namespace {
constexpr std::size_t mostUndone = 200;
}

LoopNestView::LoopNestView(QWidget* parent) : QAbstractScrollArea(parent) {
    setObjectName(QStringLiteral("mapping.nest"));
    setAccessibleName(tr("Loop nest"));
    setToolTip(tr("Drag a loop to another place; change its bound with the wheel, + and −; X, Y and T spread it"));
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(false);
    verticalScrollBar()->setObjectName(QStringLiteral("mapping.nest.scroll"));
    connect(&Theme::instance(), &Theme::changed, this, &LoopNestView::relayout);
    clear(tr("Choose an operator: its loops appear here."));
}

void LoopNestView::setNest(NestProblem problem, NestHardware hardware, NestMapping mapping) {
    const bool same = problem == problem_ && !hardware_.levels.empty() && hardware.name == hardware_.name;
    problem_ = std::move(problem);
    hardware_ = std::move(hardware);
    mapping_ = std::move(mapping);
    mapping_.levels.resize(hardware_.levels.size());
    LoopPlace none{hardware_.levels.size(), 0};
    removeTrivial(mapping_, none);
    evaluator_.emplace(problem_, hardware_);
    why_.clear();
    before_.clear();
    lastGood_.reset();
    dragged_.reset();
    drop_.reset();
    hovered_.reset();
    if (!same || (current_ && !holds(mapping_, *current_))) current_.reset();
    count();
    relayout();
}

void LoopNestView::clear(const QString& why) {
    why_ = why;
    problem_ = {};
    hardware_ = {};
    mapping_ = {};
    evaluator_.reset();
    counts_.reset();
    lastGood_.reset();
    fault_.reset();
    before_.clear();
    current_.reset();
    hovered_.reset();
    dragged_.reset();
    relayout();
}

void LoopNestView::count() {
    fault_.reset();
    counts_.reset();
    const bool empty = std::ranges::all_of(mapping_.levels, [](const LevelMapping& l) { return l.loops.empty(); });
    if (!evaluator_ || (empty && problem_.operations() > 1)) return;
    if (Expected<NestCounts> counts = evaluator_->explain(mapping_)) {
        counts_ = lastGood_ = std::move(*counts);
    } else {
        fault_ = counts.error();
    }
}

void LoopNestView::relayout() {
    const QFontMetrics metrics(Theme::instance().font(FontRole::Body));
    layout_ = hardware_.levels.empty() ? LoopNestLayout{}
                                       : layOutNest(problem_, hardware_, mapping_, viewport()->width(),
                                                    metrics.height() + 6, metrics.horizontalAdvance(QLatin1Char('0')));
    verticalScrollBar()->setRange(0, std::max(0, layout_.height - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(metrics.height() + 6);
    viewport()->update();
    say();
}

void LoopNestView::take(NestMapping changed, std::optional<LoopPlace> current) {
    current_ = current;
    if (changed == mapping_) return relayout();
    before_.push_back(std::exchange(mapping_, std::move(changed)));
    if (before_.size() > mostUndone) before_.erase(before_.begin());
    count();
    relayout();
    emit mappingEdited(mapping_);
}

void LoopNestView::undo() {
    if (before_.empty()) return;
    mapping_ = std::move(before_.back());
    before_.pop_back();
    if (current_ && !holds(mapping_, *current_)) current_.reset();
    count();
    relayout();
    emit mappingEdited(mapping_);
}

void LoopNestView::turn(LoopPlace loop, bool larger) {
    NestMapping changed = mapping_;
    if (setBound(changed, loop, nextBound(mapping_, loop, larger))) take(std::move(changed), loop);
}

void LoopNestView::shift(LoopPlace loop, bool outwards) {
    NestMapping changed = mapping_;
    LoopPlace to = loop;
    const std::size_t size = mapping_.levels[loop.level].loops.size();
    if (outwards) {
        to.index += 2;  // before the one after the next
        if (to.index > size) to = {loop.level + 1, 0};
    } else if (loop.index > 0) {
        to.index -= 1;
    } else if (loop.level > 0) {
        to = {loop.level - 1, mapping_.levels[loop.level - 1].loops.size()};
    } else {
        return;
    }
    if (to.level >= mapping_.levels.size()) return;
    LoopPlace now = moveLoop(changed, loop, to);
    // Against the rule that spatial loops stand inside: on to the next level.
    if (now == loop && changed == mapping_) {
        if (outwards && loop.level + 1 < mapping_.levels.size()) {
            now = moveLoop(changed, loop, {loop.level + 1, 0});
        } else if (!outwards && loop.level > 0) {
            now = moveLoop(changed, loop, {loop.level - 1, mapping_.levels[loop.level - 1].loops.size()});
        }
    }
    take(std::move(changed), now);
}

void LoopNestView::change(LoopPlace loop, LoopKind kind) {
    NestMapping changed = mapping_;
    const LoopPlace now = setKind(changed, loop, kind);
    take(std::move(changed), now);
}

void LoopNestView::setCurrent(std::optional<LoopPlace> loop) {
    if (loop == current_) return;
    current_ = loop;
    for (const LoopRow& row : layout_.loops) {
        if (row.place != loop) continue;
        QScrollBar* bar = verticalScrollBar();
        if (row.box.top() < bar->value()) bar->setValue(row.box.top() - row.box.height());
        if (row.box.bottom() > bar->value() + viewport()->height())
            bar->setValue(row.box.bottom() + row.box.height() - viewport()->height());
    }
    viewport()->update();
    say();
}

QPoint LoopNestView::toWhole(const QPoint& viewport) const {
    return viewport + QPoint(0, verticalScrollBar()->value());
}

QString LoopNestView::describe(LoopPlace loop) const {
    return tr("%1: %2").arg(qs(hardware_.levels[loop.level].name),
                            loopText(problem_, mapping_.levels[loop.level].loops[loop.index]));
}

void LoopNestView::say() {
    QString words = current_ && holds(mapping_, *current_) ? describe(*current_) : why_;
    if (fault_) words += QStringLiteral(". ") + windowText(fault_->message);
    setAccessibleDescription(words);
}

void LoopNestView::paintEvent(QPaintEvent* event) {
    QPainter painter(viewport());
    const Palette& colours = Theme::instance().colours();
    painter.fillRect(event->rect(), colours.surface);
    painter.setFont(Theme::instance().font(FontRole::Body));
    if (hardware_.levels.empty()) {
        painter.setPen(colours.mutedText);
        painter.drawText(viewport()->rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap, why_);
        return;
    }
    const NestCounts* counts = counts_ ? &*counts_ : lastGood_ ? &*lastGood_ : nullptr;
    QString refusal;
    if (fault_)
        refusal = windowText(fault_->message) + (fault_->hint.empty() ? QString() : QStringLiteral(". ") + windowText(fault_->hint));
    const LoopNestPicture picture{problem_, hardware_, mapping_, layout_,  counts, !counts_,
                                  refusal,  current_,  hovered_, dragged_, drop_,  hasFocus()};
    painter.translate(0, -verticalScrollBar()->value());
    paintNest(painter, picture, event->rect().translated(0, verticalScrollBar()->value()));
}

void LoopNestView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    relayout();
}

}  // namespace orrery::ui
