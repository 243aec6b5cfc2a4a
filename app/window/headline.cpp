#include "app/window/headline.h"

#include "evaluation/best_answer.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QStringList>

#include <algorithm>
#include <array>
#include <numeric>

namespace orrery::app {

QString boundText(const Estimate& estimate) {
    std::array<double, 5> share{};
    const auto& operators = estimate.operators;
    for (std::size_t at = 0; at < operators.size() && at < operators.bound.size(); ++at) {
        share[static_cast<std::size_t>(operators.bound[at].kind)] += operators.seconds[at];
    }
    const double all = std::accumulate(share.begin(), share.end(), 0.0);
    if (!(all > 0)) return {};
    const auto most = std::ranges::max_element(share);
    static const std::array<const char*, 5> names = {
        QT_TRANSLATE_NOOP("Headline", "compute"), QT_TRANSLATE_NOOP("Headline", "memory"),
        QT_TRANSLATE_NOOP("Headline", "launch overhead"), QT_TRANSLATE_NOOP("Headline", "network"),
        QT_TRANSLATE_NOOP("Headline", "nothing")};
    return QObject::tr("bound by %1 for %2 % of the time")
        .arg(QCoreApplication::translate("Headline", names[static_cast<std::size_t>(most - share.begin())]))
        .arg(qRound(*most / all * 100));
}

namespace {

const QString between = QStringLiteral("  ·  ");

/// Gives way to its neighbours; what is cut ends in `…`, and the tip says all.
class OneLine : public QLabel {
public:
    using QLabel::QLabel;
    QSize minimumSizeHint() const override { return {1, QLabel::minimumSizeHint().height()}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(rect(), int(Qt::AlignLeft) | int(Qt::AlignVCenter) | int(Qt::TextSingleLine),
                         fontMetrics().elidedText(text(), Qt::ElideRight, width()));
    }
};

}  // namespace

Headline::Headline(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("headline"));
    setAccessibleName(tr("Answer"));
    const int unit = ui::Theme::instance().unit();
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(unit * 3 / 2, unit / 2, unit * 3 / 2, unit / 2);
    row->setSpacing(unit * 2);
    const auto label = [this](const char* name, const QString& meaning, QLabel* made = nullptr) {
        if (!made) made = new QLabel(this);
        made->setObjectName(QLatin1String(name));
        made->setToolTip(meaning);
        made->setTextFormat(Qt::PlainText);
        return made;
    };
    latency_ = label("headlineLatency", tr("Latency that the primary method predicts"));
    interval_ = label("headlineInterval", tr("Interval of the prediction"));
    facts_ = label("headlineFacts", tr("What limits it, and what it needs"), new OneLine(this));
    question_ = label("headlineQuestion", tr("The question"));
    doubts_ = label("headlineWarnings", tr("What this answer does not include"), new OneLine(this));
    row->addWidget(latency_, 0, Qt::AlignBaseline);
    row->addWidget(interval_, 0, Qt::AlignBaseline);
    row->addWidget(doubts_, 0, Qt::AlignBaseline);
    row->addWidget(facts_, 0, Qt::AlignBaseline);
    row->addStretch(1);
    row->addWidget(question_, 0, Qt::AlignBaseline);
    question_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    question_->setAlignment(Qt::AlignRight);
    row->setStretchFactor(question_, 2);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &Headline::restyle);
    restyle();
    hide();
}

void Headline::restyle() {
    const auto& theme = ui::Theme::instance();
    latency_->setFont(theme.font(ui::FontRole::Display));
    for (QLabel* label : {interval_, doubts_, facts_, question_}) label->setFont(theme.font(ui::FontRole::Body));
    QPalette alarmed = palette();
    alarmed.setColor(QPalette::WindowText, theme.colours().warning);
    doubts_->ensurePolished();
    doubts_->setPalette(alarmed);
    QPalette muted = palette();
    muted.setColor(QPalette::WindowText, theme.colours().mutedText);
    for (QLabel* label : {latency_, facts_}) label->setPalette(late_.isEmpty() ? palette() : muted);
    for (QLabel* label : {interval_, question_}) {
        label->ensurePolished();  // or its first showing brings the palette of before back
        label->setPalette(muted);
    }
    fitQuestion();
}

void Headline::fitQuestion() {
    // Half a name helps nobody: where the facts need the room, the question stands in the toolbar alone.
    int used = layout()->contentsMargins().left() + layout()->contentsMargins().right() + 4 * layout()->spacing();
    for (const QLabel* label : {latency_, interval_, doubts_})
        if (!label->isHidden()) used += label->sizeHint().width();
    // Whole facts: half of a number is another one.
    qsizetype shown = factList_.size();
    const auto text = [&] { return factList_.mid(0, shown).join(between); };
    while (shown > 1 && used + facts_->fontMetrics().horizontalAdvance(text()) > width()) --shown;
    facts_->setText(text());
    used += facts_->sizeHint().width();
    const int wanted = question_->fontMetrics().horizontalAdvance(question_->text());
    // A third of what is left is the stretch before it.
    question_->setVisible((width() - used) * 2 >= wanted * 3);
}

void Headline::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitQuestion();
}

void Headline::setAside(bool aside) {
    aside_ = aside;
    setVisible(snapshot_ && !aside_);
}

void Headline::setLate(const QString& why) {
    if (why == late_) return;
    late_ = why;
    setSnapshot(snapshot_, chosen_);
    restyle();
}

// Nothing answers: the first method that was meant for such a question says why not.
void Headline::showFailure(const ui::Snapshot& snapshot) {
    for (QLabel* label : {latency_, interval_, facts_, question_}) label->clear();
    factList_.clear();
    const auto meant = std::ranges::find_if(snapshot.answers, [](const ui::Answer& answer) { return answer.failed(); });
    const auto told = meant != snapshot.answers.end()
                          ? meant
                          : std::ranges::find_if(snapshot.answers, [](const auto& a) { return a.failure.has_value(); });
    QStringList said{tr("⚠ No method answers this question")}, all;
    if (snapshot.answers.empty()) said << tr("choose one that does, in the toolbar");
    if (told != snapshot.answers.end()) said << ui::windowText(told->failure->message);
    for (const ui::Answer& answer : snapshot.answers)
        if (answer.failure) all << answer.title + QStringLiteral(": ") + ui::windowText(toText(*answer.failure));
    doubts_->setText(said.join(QStringLiteral(": ")));
    doubts_->setToolTip(all.join(QLatin1Char('\n')));
    doubts_->show();
    setAccessibleDescription(doubts_->text());
}

void Headline::setSnapshot(const ui::SnapshotPtr& snapshot, const QString& chosen) {
    snapshot_ = snapshot;
    chosen_ = chosen;
    const Estimate* estimate = snapshot ? snapshot->primaryEstimate() : nullptr;
    setVisible(snapshot && !aside_);
    if (!snapshot) return;
    if (!estimate) return showFailure(*snapshot);
    latency_->setText(QString::fromStdString(format(estimate->latency)));
    interval_->setText(QStringLiteral("%1 – %2").arg(QString::fromStdString(format(estimate->interval.low)),
                                                     QString::fromStdString(format(estimate->interval.high))));
    interval_->setToolTip(tr("Interval: %1").arg(QString::fromStdString(estimate->interval.basis)));
    QStringList facts;
    if (isLeastTime(*estimate)) {
        latency_->setText(QStringLiteral("≥ ") + latency_->text());
    } else if (snapshot->bound) {
        facts << tr("no less than %1").arg(QString::fromStdString(format(*snapshot->bound)));
    }
    if (const QString bound = boundText(*estimate); !bound.isEmpty()) facts << bound;
    if (estimate->memory) {
        const MemoryUse& memory = *estimate->memory;
        const QString used = QString::fromStdString(format(memory.total()));
        facts << (memory.capacity.value > 0
                      ? tr("%1 of %2 memory").arg(used, QString::fromStdString(format(memory.capacity)))
                      : tr("%1 memory").arg(used));
    }
    if (estimate->energy) facts << QString::fromStdString(format(*estimate->energy));
    for (const Figure& figure : estimate->figures) {
        facts << QStringLiteral("%1 %2 %3")
                     .arg(QString::fromStdString(figure.label).toLower(),
                          QString::fromStdString(formatMeasure(figure.value, figure.dimension)),
                          QString::fromStdString(figure.unit))
                     .trimmed();
    }
    QStringList doubts, hints;
    for (const Diagnostic& each : estimate->warnings) {
        if (each.code == "plan.one-device") {
            doubts << QStringLiteral("⚠ ") + ui::windowText(each.message);
        } else if (each.code == "memory.does-not-fit" && estimate->memory) {
            doubts << tr("⚠ needs %1 of %2")
                          .arg(QString::fromStdString(format(estimate->memory->total())),
                               QString::fromStdString(format(estimate->memory->capacity)));
        } else {
            continue;
        }
        hints << ui::windowText(each.message + ". " + each.hint);
    }
    const auto wanted = std::ranges::find(snapshot->answers, chosen, &ui::Answer::method);
    if (wanted != snapshot->answers.end() && !wanted->estimate) {
        doubts << tr("⚠ %1 does not answer here").arg(wanted->title);
        if (wanted->failure) hints << ui::windowText(toText(*wanted->failure));
    }
    if (!late_.isEmpty()) {
        doubts.prepend(tr("⚠ previous question"));
        hints.prepend(late_);
    }
    doubts_->setVisible(!doubts.isEmpty());
    doubts_->setText(doubts.join(between));
    doubts_->setToolTip(hints.join(QLatin1Char('\n')));
    factList_ = facts.mid(0, doubts.isEmpty() ? 4 : 2);
    facts_->setToolTip(facts.join(QLatin1Char('\n')));
    const auto& answer = snapshot->answers[static_cast<std::size_t>(snapshot->primary)];
    question_->setText(answer.title);
    const QString why = snapshot->primary == snapshot->best ? tr("Best answer: %1").arg(snapshot->bestReason)
                                                            : tr("Chosen in the comparison; it is not the best answer");
    latency_->setToolTip(answer.title + QLatin1Char('\n') + why);
    question_->setToolTip(QString::fromStdString(snapshot->scenario.name()) + QLatin1Char('\n') + answer.title +
                          QLatin1Char('\n') + why);
    fitQuestion();
    setAccessibleDescription(latency_->text() + QStringLiteral(", ") + (doubts + facts).join(QStringLiteral(", ")));
}

}  // namespace orrery::app
