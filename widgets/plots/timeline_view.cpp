#include "widgets/plots/timeline_view.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/hover_card.h"
#include "widgets/plots/operator_facts.h"
#include "widgets/plots/view_button.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QToolButton>
#include <QWheelEvent>

#include <cmath>

namespace orrery::ui {

EmptyState TimelineView::nothingYet() const {
    return {tr("Timeline"), tr("When each operator runs, where, and for how long."), tr("Open an example")};
}

TimelineView::TimelineView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("timeline"), tr("Timeline"), selection, parent) {
    setMinimumSize(200, 120);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleDescription(
        tr("W S zoom, A D pan, F fits, comma and full stop step, R marks an area, Ctrl+F searches."));
    setEmptyState(nothingYet());
    search_ = new QLineEdit(this);
    search_->setObjectName(QStringLiteral("timeline-search"));
    search_->setAccessibleName(tr("Search operators in the timeline"));
    search_->setToolTip(tr("Search operators (Ctrl+F); Enter goes to the next"));
    search_->setPlaceholderText(tr("Search operators"));
    search_->setClearButtonEnabled(true);
    search_->hide();
    connect(search_, &QLineEdit::textChanged, this, [this] { search(false); });
    connect(search_, &QLineEdit::returnPressed, this, [this] { search(true); });
    fitButton_ = viewButton(this, QStringLiteral("timeline-fit"), QStringLiteral("zoom-fit-best"),
                            tr("Fit the selection, or everything (F)"));
    searchButton_ =
        viewButton(this, QStringLiteral("timeline-find"), QStringLiteral("edit-find"), tr("Search operators (Ctrl+F)"));
    connect(fitButton_, &QToolButton::clicked, this, &TimelineView::fit);
    connect(searchButton_, &QToolButton::clicked, this, &TimelineView::openSearch);
    card_ = new HoverCard(this);
    connect(selection, &Selection::changed, this, [this] { update(); });
    connect(selection, &Selection::hoverChanged, this, [this] { update(); });
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        layOut();
        update();
    });
    setEmpty(true);
}

void TimelineView::snapshotChanged(const SnapshotPtr& before) {
    const Estimate* estimate = snapshot() ? snapshot()->primaryEstimate() : nullptr;
    const bool sameWorkload = before && snapshot() && before->scenario.workload && snapshot()->scenario.workload &&
                              before->scenario.workload->id == snapshot()->scenario.workload->id;
    shown_ = snapshot();
    model_ = estimate ? TimelineModel(estimate->timeline) : TimelineModel();
    overview_ = {};
    hovered_ = -1;
    card_->hide();
    if (estimate && model_.empty()) {
        const QString method = snapshot()->answers[std::size_t(snapshot()->primary)].title;
        setEmptyState(
            {tr("No timeline"), tr("%1 predicts the times of operators but not when they run.").arg(method), {}});
    } else if (!estimate) {
        setEmptyState(withoutEstimate(snapshot(), nothingYet()));
    }
    setEmpty(model_.empty());
    fitButton_->setVisible(!model_.empty());
    searchButton_->setVisible(!model_.empty());
    if (current_ >= 0 && (model_.empty() || current_ >= std::int64_t(model_.timeline()->spans.size()))) current_ = -1;
    if (!sameWorkload) {
        current_ = -1;
        setArea({});
        whole_ = true;
    }
    layOut();
    if (whole_)
        fitAll();
    else
        setMap(map_);
}

void TimelineView::layOut() {
    const Theme& theme = Theme::instance();
    const QFontMetrics metrics(theme.font(FontRole::Small));
    gutter_ = 0;
    if (!model_.empty()) {
        for (const std::string& row : model_.timeline()->rows)
            gutter_ = std::max(gutter_, metrics.horizontalAdvance(QString::fromStdString(row)) + 16);
    }
    gutter_ = std::min(gutter_, std::max(width() / 4, 40));
    const int rows = std::max(int(model_.rows().size()), 1);
    const int least = qRound(20 * theme.scale());
    const int most = qRound(64 * theme.scale());
    rowHeight_ = std::clamp(rowsRect().height() / rows, least, most);
    scrollRows(0);
    map_.left = gutter_;
    map_.width = std::max(width() - gutter_ - 4, 1);
    const int side = qRound(24 * theme.scale());
    search_->setGeometry(width() - 8 - 2 * side - 190, 2, 180, side);
    placeViewButtons(this, {fitButton_, searchButton_});
    overview_ = {};
}

QRect TimelineView::overviewRect() const {
    const int side = qRound(28 * Theme::instance().scale());
    return {gutter_, 2, std::max(width() - gutter_ - 2 * side - 4, 10), side - 4};
}
QRect TimelineView::rulerRect() const {
    return {gutter_, overviewRect().bottom() + 3, width() - gutter_, qRound(20 * Theme::instance().scale())};
}
QRect TimelineView::footerRect() const {
    const int tall = area_ ? qRound(24 * Theme::instance().scale()) : 0;
    return {0, height() - tall, width(), tall};
}
QRect TimelineView::rowsRect() const {
    const int top = rulerRect().bottom() + 1;
    return {0, top, width(), std::max(height() - top - footerRect().height(), 0)};
}
QRect TimelineView::rowRect(int row) const {
    return {gutter_, rowsRect().top() + row * rowHeight_ - scroll_, width() - gutter_, rowHeight_};
}
int TimelineView::rowAt(int y) const {
    if (!rowsRect().contains(rowsRect().left(), y)) return -1;
    const int row = (y - rowsRect().top() + scroll_) / rowHeight_;
    return row < int(model_.rows().size()) ? row : -1;
}

std::int64_t TimelineView::spanAt(const QPoint& pixel) const {
    const int row = rowAt(pixel.y());
    if (row < 0 || pixel.x() < gutter_) return -1;
    const TimelineRow& spans = model_.rows()[std::size_t(row)];
    // A pixel of tolerance, so that slivers can be pointed at.
    for (const double x : {pixel.x() + 0.5, pixel.x() - 0.5, pixel.x() + 1.5}) {
        const std::int64_t span = spans.spanAt(std::int64_t(map_.time(x)));
        if (span >= 0) return span;
    }
    return -1;
}

void TimelineView::setMap(const TimeMap& map) {
    map_ = map;
    map_.left = gutter_;
    map_.width = std::max(width() - gutter_ - 4, 1);
    if (!model_.empty()) map_.keepInside(double(model_.begin()), double(model_.end()));
    update();
}

void TimelineView::fitAll() {
    whole_ = true;
    const double begin = double(model_.begin()), end = double(model_.end());
    TimeMap map = map_;
    map.from = begin - (end - begin) * 0.01;
    map.to = end + (end - begin) * 0.01;
    setMap(map);
}

void TimelineView::fit() {
    std::pair<std::int64_t, std::int64_t> range = model_.extent(selection()->operators());
    if (current_ >= 0) {
        const TimelineSpan& span = model_.timeline()->spans[std::size_t(current_)];
        if (selection()->operators().contains(span.op)) range = {span.startPs, span.endPs};
    }
    if (area_) range = {std::int64_t(area_->from), std::int64_t(area_->to)};
    if (range.first >= range.second) return fitAll();
    const double margin = double(range.second - range.first) * 0.15;
    TimeMap map = map_;
    map.from = double(range.first) - margin;
    map.to = double(range.second) + margin;
    whole_ = false;
    setMap(map);
}

void TimelineView::zoomAt(double factor, double pixel) {
    TimeMap map = map_;
    map.zoom(factor, pixel, double(model_.begin()), double(model_.end()));
    whole_ = false;
    setMap(map);
}

void TimelineView::panBy(double share) {
    TimeMap map = map_;
    map.pan((map.to - map.from) * share, double(model_.begin()), double(model_.end()));
    whole_ = false;
    setMap(map);
}

void TimelineView::scrollRows(int pixels) {
    const int most = std::max(int(model_.rows().size()) * rowHeight_ - rowsRect().height(), 0);
    scroll_ = std::clamp(scroll_ + pixels, 0, most);
    update();
}

void TimelineView::makeCurrent(std::int64_t span, bool reveal) {
    if (span < 0) return;
    current_ = span;
    const TimelineSpan& at = model_.timeline()->spans[std::size_t(span)];
    if (at.op >= 0) selection()->select({at.op});
    if (reveal) {
        const double from = double(at.startPs), to = double(at.endPs);
        if (from < map_.from || to > map_.to) {
            TimeMap map = map_;
            const double shift = (from + to) / 2 - (map.from + map.to) / 2;
            map.from += shift;
            map.to += shift;
            whole_ = false;
            setMap(map);
        }
        const QRect row = rowRect(at.row);
        if (row.top() < rowsRect().top()) scrollRows(row.top() - rowsRect().top());
        if (row.bottom() > rowsRect().bottom()) scrollRows(row.bottom() - rowsRect().bottom());
    }
    update();
}

void TimelineView::step(int by) {
    if (model_.empty()) return;
    if (current_ < 0) {
        const QSet<int>& chosen = selection()->operators();
        return makeCurrent(chosen.isEmpty() ? 0 : model_.nextOf(chosen, std::numeric_limits<std::int64_t>::min()),
                           true);
    }
    makeCurrent(model_.neighbour(current_, by), true);
}

void TimelineView::setArea(std::optional<Area> area) {
    const bool resized = area.has_value() != area_.has_value();
    area_ = area;
    if (resized) layOut();
    update();
    emit areaChanged();
}

void TimelineView::markArea(const QPoint& a, const QPoint& b) {
    const int last = int(model_.rows().size()) - 1;
    const auto row = [&](int y) { return std::clamp((y - rowsRect().top() + scroll_) / rowHeight_, 0, last); };
    const bool ruler = rulerRect().contains(pressed_) || rulerRect().top() > pressed_.y();
    const double from = map_.time(std::min(a.x(), b.x())), to = map_.time(std::max(a.x(), b.x()));
    setArea(Area{std::max(from, double(model_.begin())), std::min(to, double(model_.end())),
                 ruler ? 0 : row(std::min(a.y(), b.y())), ruler ? last : row(std::max(a.y(), b.y()))});
}

SpanStatistics TimelineView::areaStatistics() const {
    SpanStatistics sum;
    if (!area_) return sum;
    for (int row = area_->firstRow; row <= area_->lastRow; ++row)
        sum.add(model_.rows()[std::size_t(row)].statistics(std::int64_t(area_->from), std::int64_t(area_->to)));
    return sum;
}

void TimelineView::overviewTo(int x) {
    const QRect strip = overviewRect();
    const double begin = double(model_.begin()), end = double(model_.end());
    const double centre = begin + (end - begin) * (x - strip.left()) / strip.width();
    TimeMap map = map_;
    map.pan(centre - (map.from + map.to) / 2, begin, end);
    whole_ = false;
    setMap(map);
}

QString TimelineView::workText(std::int32_t work) {
    switch (work) {
        case SpanForward:
            return tr("A micro-batch, forward pass");
        case SpanBackward:
            return tr("A micro-batch, backward pass");
        case SpanExchange:
            return tr("Gradients or parameters exchanged");
        case SpanUpdate:
            return tr("Optimizer");
        default:
            return tr("Idle or overhead");
    }
}

void TimelineView::hoverAt(const QPoint& pixel) {
    hovered_ = model_.empty() ? -1 : spanAt(pixel);
    const Estimate* estimate = shown_ ? shown_->primaryEstimate() : nullptr;
    if (hovered_ < 0 || !estimate) {
        card_->hide();
        selection()->hover(-1);
        return update();
    }
    const TimelineSpan& span = model_.timeline()->spans[std::size_t(hovered_)];
    HoverCard::Lines lines;
    lines.emplace_back(tr("Span"), text(Seconds(double(span.endPs - span.startPs) * 1e-12), 4));
    lines.emplace_back(tr("Begins at"), text(Seconds(double(span.startPs) * 1e-12), 6));
    lines.emplace_back(tr("Row"), QString::fromStdString(model_.timeline()->rows[std::size_t(span.row)]));
    if (span.repetition > 0) lines.emplace_back(tr("Repetition"), QString::number(span.repetition + 1));
    if (span.op >= 0) {
        for (auto& line : operatorCard(*shown_, *estimate, span.op)) lines.push_back(std::move(line));
    }
    card_->showAt(pixel, colourOf(span.op), span.op >= 0 ? operatorName(*shown_, span.op) : workText(span.op),
                  lines);
    selection()->hover(span.op);
    update();
}

void TimelineView::openSearch() {
    search_->show();
    search_->raise();
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

void TimelineView::search(bool next) {
    const QString wanted = search_->text().trimmed();
    if (wanted.isEmpty() || !shown_ || !shown_->scenario.workload || model_.empty()) return;
    QSet<int> found;
    const auto& operators = shown_->scenario.workload->graph.operators;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        if (QString::fromStdString(operators[i].name).contains(wanted, Qt::CaseInsensitive)) found.insert(int(i));
    }
    selection()->select(found);
    const std::int64_t after = next && current_ >= 0 ? model_.timeline()->spans[std::size_t(current_)].startPs
                                                     : std::numeric_limits<std::int64_t>::min();
    const std::int64_t span = model_.nextOf(found, after);
    if (span < 0 || !next) return;
    makeCurrent(span, true);
    selection()->select(found);
}

void TimelineView::resizeEvent(QResizeEvent* event) {
    ResultView::resizeEvent(event);
    layOut();
    if (whole_ && !model_.empty()) fitAll();
}

QString TimelineView::csv() const {
    if (model_.empty()) return {};
    QString out = QStringLiteral("row,operator,start_s,duration_s,repetition\n");
    const Timeline& timeline = *model_.timeline();
    for (const TimelineSpan& span : timeline.spans) {
        out += csvField(QString::fromStdString(timeline.rows[std::size_t(span.row)])) + QLatin1Char(',') +
               (span.op >= 0 ? csvField(operatorName(*shown_, span.op)) : QString()) + QLatin1Char(',') +
               QString::number(double(span.startPs) * 1e-12, 'g', 15) + QLatin1Char(',') +
               QString::number(double(span.endPs - span.startPs) * 1e-12, 'g', 12) + QLatin1Char(',') +
               QString::number(span.repetition) + QLatin1Char('\n');
    }
    return out;
}

}  // namespace orrery::ui
