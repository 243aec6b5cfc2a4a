#include "widgets/evidence/story_view.h"

#include "learning/off_by_two.h"
#include "widgets/common/text.h"
#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/evidence/cycle_stack.h"
#include "widgets/evidence/wave_picture.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace orrery::ui {

namespace {

QString valueText(const KernelTerm& term) {
    const QString number = text(term.value, term.dimension);
    return term.unit.empty() ? number : number + QLatin1Char(' ') + qs(term.unit);
}

Tone toneOf(DomainVerdict verdict) {
    return verdict == DomainVerdict::Inside ? Tone::Good : verdict == DomainVerdict::Edge ? Tone::Warning : Tone::Bad;
}

QString wordsOf(DomainVerdict verdict) {
    switch (verdict) {
        case DomainVerdict::Inside:
            return StoryView::tr("inside what was learned");
        case DomainVerdict::Edge:
            return StoryView::tr("at the edge of the domain");
        case DomainVerdict::Outside:
            return StoryView::tr("outside what was learned");
    }
    return {};
}

constexpr double likelyOff = 0.1;

QString chanceText(double chance) {
    return chance < 0.001 ? StoryView::tr("< 0.1 %") : StoryView::tr("%1 %").arg(100 * chance, 0, 'g', 2);
}

}  // namespace

StoryView::StoryView(QWidget* parent) : QScrollArea(parent) {
    setObjectName(QStringLiteral("why.scroll"));
    setAccessibleName(tr("Why this number"));
    setToolTip(tr("How a method predicts the time of the selected operator"));
    setFrameShape(NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    const int unit = Theme::instance().unit();
    auto* body = new QWidget(this);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(unit * 3 / 2, unit, unit * 3 / 2, unit);
    column->setSpacing(unit);
    title_ = new Label({}, FontRole::Title, Tone::Normal, body);
    title_->setElided(true);
    subtitle_ = new Label({}, FontRole::Body, Tone::Muted, body);
    subtitle_->setElided(true);
    note_ = new Label({}, FontRole::Body, Tone::Muted, body);
    note_->setWordWrap(true);
    subtitle_->setObjectName(QStringLiteral("why.method"));
    note_->setObjectName(QStringLiteral("why.note"));
    kernel_ = new QComboBox(body);
    kernel_->setObjectName(QStringLiteral("why.kernel"));
    kernel_->setAccessibleName(tr("Kernel"));
    kernel_->setToolTip(tr("Kernels that the operator launches"));
    kernel_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    kernel_->setMinimumContentsLength(16);
    price_ = new FactList(body);
    termsHeader_ = new SectionHeader(tr("Chain of terms"), body);
    terms_ = new FactList(body);
    waves_ = new WavePicture(body);
    stack_ = new CycleStack(body);
    for (QWidget* part : std::initializer_list<QWidget*>{title_, subtitle_, note_, kernel_, price_, termsHeader_,
                                                         terms_, waves_, stack_})
        column->addWidget(part);
    column->addStretch(1);
    setWidget(body);
    connect(kernel_, &QComboBox::currentIndexChanged, this, &StoryView::showKernel);
    setKernels({}, {}, {}, {});
}

void StoryView::setKernels(const QString& title, const QString& method, std::vector<KernelAnswer> kernels,
                           const QString& note) {
    const QString before = kernel_->currentText();
    kernels_ = std::move(kernels);
    title_->setFullText(title);
    subtitle_->setFullText(method);
    note_->setFullText(note);
    note_->setVisible(!note.isEmpty());
    const bool any = !kernels_.empty();
    for (QWidget* part : std::initializer_list<QWidget*>{price_, termsHeader_, terms_}) part->setVisible(any);
    {
        const QSignalBlocker quiet(kernel_);
        kernel_->clear();
        for (const KernelAnswer& each : kernels_) kernel_->addItem(each.kernel);
        kernel_->setCurrentIndex(std::max(kernel_->findText(before), any ? 0 : -1));
    }
    kernel_->setVisible(kernels_.size() > 1);
    showKernel(kernel_->currentIndex());
}

void StoryView::showKernel(int at) {
    if (at < 0 || static_cast<std::size_t>(at) >= kernels_.size()) {
        waves_->setFacts({});
        stack_->setParts({});
        return;
    }
    const KernelAnswer& answer = kernels_[static_cast<std::size_t>(at)];
    const KernelPrice& price = answer.price;
    std::vector<Fact> facts{{answer.bound ? tr("Least time of one execution") : tr("Time of one launch"),
                             text(Seconds(price.seconds)),
                             {},
                             Tone::Normal}};
    if (price.high > price.low)
        facts.push_back({tr("90 % interval"),
                         QStringLiteral("%1 – %2").arg(text(Seconds(price.low)), text(Seconds(price.high))),
                         tr("90 % of measured kernels are inside"), Tone::Normal});
    if (answer.times > 1)
        facts.push_back({tr("Launched"), tr("%1 times").arg(countText(answer.times)), {}, Tone::Normal});
    facts.push_back({tr("Share of the whole"), percentText(answer.share), {}, Tone::Normal});
    if (answer.bound)
        facts.push_back({tr("Kind"), tr("a lower bound"), tr("No kernel can be faster at these rates"), Tone::Normal});
    else if (price.priced && !(price.high > price.low))
        facts.push_back({tr("Interval"), tr("none: not compared with such kernels"), {}, Tone::Warning});
    else if (price.priced) {
        facts.push_back({tr("Domain"), wordsOf(price.domain), {}, toneOf(price.domain)});
        if (const double chance = chanceOffByTwo(price.seconds, price.low, price.high); chance >= 0)
            facts.push_back({tr("Chance of more than 2× off"), chanceText(chance),
                             tr("How many of 100 kernels with such an interval are off by more than a factor of two"),
                             chance > likelyOff ? Tone::Warning : Tone::Normal});
    } else
        facts.push_back({tr("Covered"), tr("no: its roofline is used"), {}, Tone::Warning});
    price_->setFacts(std::move(facts));
    std::vector<Fact> terms;
    for (const KernelTerm& term : answer.story.terms)
        terms.push_back({qs(term.name), valueText(term), windowText(term.meaning), Tone::Normal});
    termsHeader_->setVisible(!terms.empty());
    terms_->setFacts(std::move(terms));
    const KernelStory& story = answer.story;
    waves_->setFacts({story.tileM, story.tileN, story.tileK, story.blocks, story.blocksPerWave});
    stack_->setParts(story.stack);
}

}  // namespace orrery::ui
